//! The task of a core: what the processor saves when a double fault takes it to a task of its own.

use super::private::Private;

/// The segment of code.
pub(super) const CODE: u16 = 0x08;
/// The segment of data.
const DATA: u16 = 0x10;

/// The registers that a task switch saves and loads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct TaskState {
    link: u32,
    stacks: [u32; 6],
    pub(crate) cr3: u32,
    pub(crate) eip: u32,
    pub(crate) eflags: u32,
    pub(crate) eax: u32,
    pub(crate) ecx: u32,
    pub(crate) edx: u32,
    pub(crate) ebx: u32,
    pub(crate) esp: u32,
    pub(crate) ebp: u32,
    pub(crate) esi: u32,
    pub(crate) edi: u32,
    es: u32,
    cs: u32,
    ss: u32,
    ds: u32,
    fs: u32,
    gs: u32,
    ldt: u32,
    io_map: u32,
}

/// A task before anything was saved.
pub(super) const EMPTY_TASK: TaskState = TaskState {
    link: 0,
    stacks: [0; 6],
    cr3: 0,
    eip: 0,
    eflags: 2,
    eax: 0,
    ecx: 0,
    edx: 0,
    ebx: 0,
    esp: 0,
    ebp: 0,
    esi: 0,
    edi: 0,
    es: DATA as u32,
    cs: CODE as u32,
    ss: DATA as u32,
    ds: DATA as u32,
    fs: DATA as u32,
    gs: DATA as u32,
    ldt: 0,
    // Beyond the segment's end: no ports for unprivileged code, of which there is none.
    io_map: (size_of::<TaskState>() as u32) << 16,
};

/// The task of all but double faults.
pub(super) static MAIN: Private<TaskState> = Private::new(EMPTY_TASK);

/// What the processor saved when the double fault interrupted this core.
pub(crate) fn interrupted_task() -> TaskState {
    // SAFETY: the processor writes the value at a task switch only, and the double fault's task is never left.
    unsafe { MAIN.get().read_volatile() }
}
