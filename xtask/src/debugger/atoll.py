"""Commands of Atoll's for gdb: `help atoll` lists them.

A core is a thread of gdb's. What they say comes from `machines.py`, which the script that attaches has sourced before.
"""

import gdb


def number(argument, what):
    """A number that a user has typed."""
    try:
        return int(gdb.parse_and_eval(argument))
    except (gdb.error, ValueError):
        raise gdb.GdbError("which %s? `%s` is no number" % (what, argument))


class Atoll(gdb.Command):
    """Commands for what Atoll's cores do, hold and wait for."""

    def __init__(self):
        super().__init__("atoll", gdb.COMMAND_USER, prefix=True)


class Ranks(gdb.Command):
    """Show each rank: its thread, what it waits for, and where it is."""

    def __init__(self):
        super().__init__("atoll ranks", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        chosen = gdb.selected_thread()
        try:
            for core in cores():
                print("rank %d (thread %d) %s, in %s" % (core.number, core.thread.num, core.state(), core.place()))
        finally:
            chosen.switch()


class Rank(gdb.Command):
    """Select the thread of a rank: `atoll rank N`."""

    def __init__(self):
        super().__init__("atoll rank", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        wanted, chosen = number(argument, "rank"), gdb.selected_thread()
        if all(core.number != wanted for core in cores()):
            chosen.switch()
            raise gdb.GdbError("there is no rank %d" % wanted)
        gdb.execute("frame")


class Break(gdb.Command):
    """Break where one rank comes by: `atoll break N LOCATION`."""

    def __init__(self):
        super().__init__("atoll break", gdb.COMMAND_USER, gdb.COMPLETE_LOCATION)

    def invoke(self, argument, from_tty):
        rank, _, location = argument.partition(" ")
        rank = number(rank, "rank")
        if not location.strip():
            raise gdb.GdbError("where? for example: atoll break %d halo.rs:80" % rank)
        gdb.execute("break %s if $_rank() == %d" % (location, rank))


class RankOf(gdb.Function):
    """The rank of the selected thread, for conditions: `$_rank()`."""

    def __init__(self):
        super().__init__("_rank")

    def invoke(self):
        return this_core()


class Lines(gdb.Command):
    """Show what the selected rank holds of memory that others see: lines in its L1, its write-combine buffer, its pages.

    What L1 holds the rank reads, whatever has been written since. What is in the write-combine buffer nobody else has
    seen; `--` are bytes that were not stored. Pages are copies of cached shared memory; dirty lines are not written
    back yet."""

    def __init__(self):
        super().__init__("atoll lines", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        MACHINE.show_lines(this_core())


class Mpb(gdb.Command):
    """Show lines of a rank's message passing buffer as memory has them: `atoll mpb N [FIRST [LINES]]`.

    What a rank has in its own L1 or write-combine buffer may differ: see `atoll lines`."""

    def __init__(self):
        super().__init__("atoll mpb", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        words = [number(word, "number") for word in gdb.string_to_argv(argument)]
        if not 1 <= len(words) <= 3:
            raise gdb.GdbError("whose? for example: atoll mpb 3 0 16")
        rank, first, count = words + [0, MPB_LINES][len(words) - 1 :]
        areas = Core(gdb.selected_thread()).areas()
        for line, data in enumerate(MACHINE.mpb_lines(rank, first, count), first):
            if any(data) or count == 1:
                what = next((", %s" % what for begin, end, what in areas if begin <= line < end), "")
                print("line %d%s: %s" % (line, what, hexadecimal(data)))


class Layout(gdb.Command):
    """Show what the lines of every MPB are, as the selected rank knows it: flags, marks of windows, staging."""

    def __init__(self):
        super().__init__("atoll layout", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        areas = Core(gdb.selected_thread()).areas()
        if not areas:
            raise gdb.GdbError("this rank has not joined the others yet")
        for first, end, what in areas:
            print("lines %s: %s" % (ranges(range(first, end)), what))


class Epochs(gdb.Command):
    """Show which ranks have an epoch open: of what kind, on which window, with whom, since when by the machine's clock."""

    def __init__(self):
        super().__init__("atoll epochs", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        chosen = gdb.selected_thread()
        try:
            for core in cores():
                for epoch in core.epochs():
                    print("rank %d: %s" % (core.number, epoch))
        finally:
            chosen.switch()


class Asked(gdb.Command):
    """What only the emulator of boards knows."""

    def __init__(self, name, what, needs):
        self.__doc__, self.name, self.needs = what, name, needs
        super().__init__("atoll %s" % name, gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        if not isinstance(MACHINE, Board):
            raise gdb.GdbError("`atoll %s` is for the emulated board: cargo xtask board" % self.name)
        if bool(argument) != self.needs:
            raise gdb.GdbError(self.__doc__)
        words = " %#x" % number(argument, "address") if self.needs else ""
        print(MACHINE.ask("%s %d%s" % (self.name, this_core(), words)), end="")


class Watched(gdb.Breakpoint):
    """A watched line, which tells who has stored to it."""

    def __init__(self, rank, line):
        self.place = "line %d of the MPB of rank %d" % (line, rank)
        self.rank, self.line = rank, line
        self.address, self.known = MACHINE.mpb_address(rank, line), MACHINE.mpb_lines(rank, line, 1)[0]
        language = gdb.parameter("language")
        gdb.execute("set language c", to_string=True)
        try:
            super().__init__(
                "*(unsigned char (*)[%d]) %#x" % (LINE_BYTES, self.address), gdb.BP_WATCHPOINT, gdb.WP_WRITE
            )
        finally:
            gdb.execute("set language %s" % language, to_string=True)

    def stop(self):
        now = MACHINE.mpb_lines(self.rank, self.line, 1)[0]
        changed = sum(1 << at for at in range(LINE_BYTES) if now[at] != self.known[at])
        self.known = now
        print("rank %d has stored to %s: %s" % (this_core(), self.place, hexadecimal(now, changed)))
        return True


class Watch(gdb.Command):
    """Stop when memory's copy of a line of an MPB changes, and tell who stored: `atoll watch N LINE`."""

    def __init__(self):
        super().__init__("atoll watch", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        words = [number(word, "number") for word in gdb.string_to_argv(argument)]
        if len(words) != 2:
            raise gdb.GdbError("which line? for example: atoll watch 3 33")
        Watched(*words)


Atoll()
Ranks()
Rank()
Break()
Lines()
Mpb()
Layout()
Epochs()
Asked("lut", "Show the lookup table of the selected rank's core: `atoll lut`.", False)
Asked("caches", "Show what caches and memory have of the line at an address: `atoll caches ADDRESS`.", True)
Watch()
RankOf()
