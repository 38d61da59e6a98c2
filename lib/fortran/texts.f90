! texts.f90 - texts between Fortran, which pads them with blanks, and C, which ends them with a NUL.
module covey_texts
  use, intrinsic :: iso_c_binding
  use covey_types
  implicit none
  private
  public :: covey_text, covey_chars, covey_words_t, covey_fortran_why

  ! A text of C's as Fortran's: an array of characters, such as covey_host_t%name, up to its NUL; what a
  ! pointer points to; so many bytes there.
  interface covey_text
    module procedure text_of_chars, text_of_pointer, text_of_bytes
  end interface covey_text

  ! Texts as C wants them, for a structure's pointers: words%list([...]) is an array that ends with NULL,
  ! words%text('...') one text. They stay where they are while `words` is there, which must be a target.
  type :: covey_words_t
    character(kind=c_char), allocatable :: letters(:, :)
    type(c_ptr), allocatable :: places(:)
  contains
    procedure :: list => words_list
    procedure :: text => words_text
  end type covey_words_t

  ! arrays.c
  interface
    ! What covey_error_text() says: the cause of the last failure, of an array or of the library.
    function covey_fortran_why() bind(C) result(answer)
      import
      type(c_ptr) :: answer
    end function covey_fortran_why

    function c_strlen(text) bind(C, name='strlen') result(answer)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: answer
    end function c_strlen
  end interface

contains

  pure function covey_chars(text) result(chars)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable :: chars(:)
    integer :: i
    allocate(chars(len(text) + 1))
    do i = 1, len(text)
      chars(i) = text(i:i)
    end do
    chars(len(text) + 1) = c_null_char
  end function covey_chars

  pure function text_of_chars(chars) result(text)
    character(kind=c_char), intent(in) :: chars(:)
    character(:), allocatable :: text
    integer :: i, n
    n = 0
    do while (n < size(chars))
      if (chars(n + 1) == c_null_char) exit
      n = n + 1
    end do
    allocate(character(n) :: text)
    do i = 1, n
      text(i:i) = chars(i)
    end do
  end function text_of_chars

  function text_of_pointer(at) result(text)
    type(c_ptr), intent(in) :: at
    character(:), allocatable :: text
    text = ''
    if (c_associated(at)) text = text_of_bytes(at, c_strlen(at))
  end function text_of_pointer

  function text_of_bytes(at, bytes) result(text)
    type(c_ptr), intent(in) :: at
    integer(c_size_t), intent(in) :: bytes
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer(c_size_t) :: i
    if (.not. c_associated(at)) then
      text = ''
      return
    end if
    call c_f_pointer(at, chars, [bytes])
    allocate(character(bytes) :: text)
    do i = 1, bytes
      text(i:i) = chars(i)
    end do
  end function text_of_bytes

  function words_list(self, list) result(at)
    class(covey_words_t), intent(inout), target :: self
    character(*), intent(in) :: list(:)
    type(c_ptr) :: at
    integer :: i
    if (allocated(self%letters)) deallocate(self%letters, self%places)
    allocate(self%letters(len(list) + 1, size(list)), self%places(size(list) + 1))
    self%letters = c_null_char
    self%places = c_null_ptr
    do i = 1, size(list)
      self%letters(1:len_trim(list(i)), i) = covey_letters(trim(list(i)))
      self%places(i) = c_loc(self%letters(1, i))
    end do
    at = c_loc(self%places)
  end function words_list

  function words_text(self, text) result(at)
    class(covey_words_t), intent(inout), target :: self
    character(*), intent(in) :: text
    type(c_ptr) :: at
    at = self%list([text])
    at = self%places(1)
  end function words_text

  pure function covey_letters(text) result(letters)
    character(*), intent(in) :: text
    character(kind=c_char) :: letters(len(text))
    integer :: i
    do i = 1, len(text)
      letters(i) = text(i:i)
    end do
  end function covey_letters
end module covey_texts
