/* pcap_library.c - loads libpcap. */
#include "daemon/link/pcap_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libpcap.so.0.8"

int pcap_library_open(struct pcap_library *library, struct failure *why)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define PCAP_ROW(name) {"pcap_" #name, offsetof(struct pcap_library, name)},
        PCAP_FUNCTIONS(PCAP_ROW)
#undef PCAP_ROW
    };
    library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library->handle == NULL)
        return failure_set(why, "raw Ethernet needs libpcap: %s", dlerror());
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(library->handle, functions[i].name);
        if (address == NULL)
            return failure_set(why, "raw Ethernet needs libpcap 1.9 or later: %s", dlerror());
        memcpy((char *)library + functions[i].offset, &address, sizeof address);
    }
    return 0;
}

void pcap_library_close(struct pcap_library *library)
{
    if (library->handle != NULL)
        dlclose(library->handle);
    library->handle = NULL;
}
