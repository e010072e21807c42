"""Commands of Atoll's for gdb: `atoll ranks` and `atoll rank N`.

A core is a thread of gdb's. Its number is in its own private memory, so a thread has to be selected before it is read.
"""

import gdb

WAITS = "hal::qemu::emulator::stuck::WAITS"
THIS_CORE = "hal::bare::this_core::THIS_CORE"
MODULES_OF_ATOLL = ("core::", "alloc::", "hal::", "spin::", "<")


def threads():
    return sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)


def core_of(thread):
    """The number of a thread's core, or nothing before it has one."""
    thread.switch()
    try:
        return int(gdb.parse_and_eval("(unsigned long) '%s'" % THIS_CORE))
    except gdb.error:
        return None


def place(frame):
    """The innermost function of the program or of `collectives`, with file and line."""
    innermost = frame
    while frame is not None:
        name = frame.name() or ""
        if name and not name.startswith(MODULES_OF_ATOLL):
            break
        frame = frame.older()
    frame = frame or innermost
    line = frame.find_sal()
    name = frame.name() or hex(frame.pc())
    if line.symtab is None:
        return name
    return "%s at %s:%d" % (name, line.symtab.filename, line.line)


class Atoll(gdb.Command):
    """Commands for what Atoll's cores do."""

    def __init__(self):
        super().__init__("atoll", gdb.COMMAND_USER, prefix=True)


class Ranks(gdb.Command):
    """Show each core: its thread, its rank, where it is, and what it waits for."""

    def __init__(self):
        super().__init__("atoll ranks", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        chosen, frame = gdb.selected_thread(), None
        for thread in threads():
            core = core_of(thread)
            frame = gdb.newest_frame()
            print("thread %d rank %s: %s" % (thread.num, core, place(frame)))
        chosen.switch()


class Rank(gdb.Command):
    """Select the thread of a rank: `atoll rank N`."""

    def __init__(self):
        super().__init__("atoll rank", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        chosen = gdb.selected_thread()
        for thread in threads():
            if core_of(thread) == int(argument):
                gdb.execute("frame")
                return
        chosen.switch()
        raise gdb.GdbError("no thread is rank %s" % argument)


Atoll()
Ranks()
Rank()
