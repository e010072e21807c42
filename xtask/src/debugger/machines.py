"""What is known of cores, for the commands in `atoll.py`: from the HAL's statics, and on the board from the emulator.

Statics are each core's own, and so is the window of cached memory: a thread has to be selected before they are read.
"""

import re
import struct

import gdb

CORE_NUMBER = "hal::bare::this_core::THIS_CORE"
WAITS = "hal::qemu::emulator::stuck::WAITS"
NOTES = "hal::qemu::emulator::stuck::NOTES"
CORE = "(((hal::qemu::emulator::platform::CORE.0).0).value).0"
FRAMES = "hal::qemu::emulator::window_pages::FRAMES_AND_TWINS"
HANDED = "((hal::qemu::handed::facts::INFORMATION.data.value.value.value).0)"
NOTEBOOK = "hal::bare::notebook::NOTEBOOK.0.value"

# Functions that are not the program's: where a core is says little, and who called them says more.
LIBRARIES = ("core::", "alloc::", "hal::", "spin::", "kernel::", "compiler_builtins::", "<", "mem")

LINE_BYTES = 32
MPB_LINES = 256
PAGE_BYTES = 4096
# The note of a core that has finished.
FINISHED = (1 << 32) - 1


def rust(expression):
    """The value of an expression of Rust's, whatever language the selected frame is in."""
    language = gdb.parameter("language")
    gdb.execute("set language rust", to_string=True)
    try:
        return gdb.parse_and_eval(expression)
    finally:
        gdb.execute("set language %s" % language, to_string=True)


def inner(value, *names):
    """A field of a field."""
    for name in names:
        value = value[name]
    return value


def bare(value):
    """What is in a value of one field that is of one field: a number in an atomic in a lock."""
    while value.type.code == gdb.TYPE_CODE_STRUCT:
        value = value[value.type.fields()[0]]
    return value


def shown(value):
    """A value as gdb prints it for Rust, with all that is in it."""
    language = gdb.parameter("language")
    gdb.execute("set language rust", to_string=True)
    try:
        return value.format_string(max_elements=0, max_depth=-1)
    finally:
        gdb.execute("set language %s" % language, to_string=True)


def elements(vector):
    """The elements of a vector of a fixed capacity."""
    buffer = inner(vector, "buffer", "buffer")
    wrapped = [inner(buffer[index], "value", "value") for index in range(int(vector["len"]))]
    return [value[value.type.fields()[0]] for value in wrapped]


def text(value):
    """A string of Rust's."""
    return value["data_ptr"].string(length=int(value["length"]))


def wait_in(option):
    """What is waited for, of a value that has a reason or none."""
    reason = re.search(
        r'what: "([^"]*)", peer: [^ ]*?(?:None|Some\([^)]*?\(?(\d+)\)+), detail: [^ ]*?(?:None|Some\((\d+)\))',
        shown(option),
    )
    if not reason:
        return None
    what, peer, detail = reason.groups()
    return "waits for %s%s%s" % (what, " %s" % detail if detail else "", " from rank %s" % peer if peer else "")


def without_generics(name):
    """A function's name without what it was made for."""
    before, name = None, name.replace("->", "")
    while name != before:
        before, name = name, re.sub(r"<[^<>]*>", "", name)
    return name


def this_core():
    """The number of the selected core."""
    return int(bare(rust(CORE_NUMBER)))


class Core:
    """A core that a thread of gdb's stands for. To ask for one selects it."""

    def __init__(self, thread):
        self.thread = thread
        thread.switch()
        self.number = this_core()

    def place(self):
        """The innermost function of the program, with file and line, or that in which it is."""
        innermost = frame = gdb.newest_frame()
        while frame is not None and frame.name() and frame.name().startswith(LIBRARIES):
            frame = frame.older()
        # Below its first function a stack may have anything.
        frame = frame if frame is not None and frame.name() else innermost
        name, line = without_generics(frame.name() or hex(frame.pc())), frame.find_sal()
        return "%s at %s:%d" % (name, line.symtab.filename, line.line) if line.symtab else name

    def state(self):
        """What the core does: it runs, has finished, or waits for something."""
        return MACHINE.state(self.number)

    def epochs(self):
        """Its open epochs, in words."""
        notebook = rust(NOTEBOOK)
        for epoch in elements(notebook["epochs"]):
            epoch, since = (epoch[field] for field in epoch.type.fields())
            words = [int(epoch["with"][word]) for word in range(epoch["with"].type.range()[1] + 1)]
            ranks = [rank for rank in range(32 * len(words)) if words[rank // 32] >> rank % 32 & 1]
            others = "all ranks" if epoch["with_all"] else "ranks %s" % ranges(ranks) if ranks else "no rank"
            begun = int(since) / int(notebook["ticks_per_second"]) * 1e3
            yield "%s epoch on window %d with %s, since %.6f ms" % (text(epoch["kind"]), epoch["window"], others, begun)

    def areas(self):
        """What lines of every MPB are, as this core knows them: the first, the one behind the last, and what."""
        areas = elements(rust(NOTEBOOK)["areas"])
        return sorted((int(area["first"]), int(area["end"]), text(area["what"])) for area in areas)


def cores():
    """All cores, in the order of their threads; the last one is selected afterwards."""
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
        yield Core(thread)


def line_name(key):
    """The name of a line, as `LineAddress::key` numbers them."""
    if key >> 63:
        home, offset = key >> 32 & 0x7FFFFFFF, (key & 0xFFFFFFFF) * LINE_BYTES
        return "shared memory %d:%#x" % (home, offset)
    return "MPB of rank %d, line %d" % (key >> 8, key & 0xFF)


def hexadecimal(data, mask=None):
    """Bytes in words of four; those that a mask has not are left open."""
    digits = ["%02x" % byte if mask is None or mask >> at & 1 else "--" for at, byte in enumerate(data)]
    return " ".join("".join(digits[at : at + 4]) for at in range(0, len(digits), 4))


def ranges(numbers):
    """Ascending numbers, those in a row as first-last."""
    rows = []
    for number in numbers:
        if rows and rows[-1][1] + 1 == number:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return ", ".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in rows)


def raw(value, form):
    """The elements of an array as `struct` reads them."""
    bytes = gdb.selected_inferior().read_memory(int(value.address), value.type.sizeof)
    return struct.iter_unpack("<" + form, bytes)


class Qemu:
    """Cores that QEMU emulates, whose caches and waits are in the HAL's statics."""

    def state(self, core):
        note = int(bare(rust("%s[%d].state" % (NOTES, core))))
        if note in (0, FINISHED):
            return "has finished" if note else "runs"
        return wait_in(rust("%s[%d]" % (WAITS, core))) or "waits"

    def mpb_address(self, rank, line):
        """Where memory has a line of an MPB."""
        handed = rust(HANDED)
        if not 0 <= rank < int(handed["core_count"]):
            raise gdb.GdbError("there is no rank %d" % rank)
        if not 0 <= line < MPB_LINES:
            raise gdb.GdbError("an MPB has no line %d" % line)
        return int(handed["mpb"]) + (rank * MPB_LINES + line) * LINE_BYTES

    def mpb_lines(self, rank, first, count):
        """Lines of an MPB as memory has them."""
        address = self.mpb_address(rank, first)
        count = min(count, MPB_LINES - first)
        data = bytes(gdb.selected_inferior().read_memory(address, count * LINE_BYTES))
        return [data[at : at + LINE_BYTES] for at in range(0, len(data), LINE_BYTES)]

    def show_lines(self, core):
        """Shows what the selected core holds."""
        try:
            hardware = rust(CORE + ".hardware")
        except gdb.error:
            raise gdb.GdbError("this core has not begun")
        lines = inner(hardware, "lines", "value", "value")
        generation = int(lines["generation"])
        for (key, held), (data,) in zip(raw(lines["tags"], "QQ"), raw(lines["lines"], "%ds" % LINE_BYTES)):
            if held == generation:
                print("L1: %s: %s" % (line_name(key), hexadecimal(data)))
                memory = None if key >> 63 else self.mpb_lines(key >> 8, key & 0xFF, 1)[0]
                if memory not in (None, data):
                    print("    is stale; memory has %s" % hexadecimal(memory))
        self.show_pending(lines["pending"])
        own, domain = (hardware[copies].referenced_value() for copies in ("own", "domain"))
        frames, twins, domain_frames, domain_twins = (int(rust("%s[%d]" % (FRAMES, at))) for at in range(4))
        self.show_pages(own, "own page", frames, twins)
        if own.address != domain.address:
            self.show_pages(domain, "page of the domain", domain_frames, domain_twins)

    def show_pending(self, pending):
        if shown(pending).endswith("None"):
            print("write-combine buffer: empty")
            return
        pending = rust(CORE + ".hardware.lines.value.value.pending.0")
        (data,) = next(raw(pending["data"], "%ds" % LINE_BYTES))
        at = shown(pending["at"])
        mpb = re.search(r"CoreId \((\d+)\), line: (\d+)", at)
        name = line_name(int(mpb[1]) << 8 | int(mpb[2])) if mpb else re.sub(r"\w+::", "", at)
        print("write-combine buffer: %s: %s" % (name, hexadecimal(data, int(pending["mask"]))))

    def show_pages(self, copies, what, frames, twins):
        resident, memory = inner(copies, "region", "value", "value", "resident"), gdb.selected_inferior()
        for page in elements(resident):
            begin = int(page["frame"]) * PAGE_BYTES
            frame, twin = (memory.read_memory(base + begin, PAGE_BYTES) for base in (frames, twins))
            differ = {at // LINE_BYTES for at in range(PAGE_BYTES) if frame[at] != twin[at]}
            # gdb has no integers of 16 bytes.
            (fetched,) = next(raw(page["lines"], "16s"))
            present = [line for line in range(PAGE_BYTES // LINE_BYTES) if fetched[line // 8] >> line % 8 & 1]
            dirty = ranges([line for line in present if line in differ])
            print("%s %d: %d lines, dirty: %s" % (what, int(page["page"]), len(present), dirty or "none"))


class Board:
    """Cores of an emulated board, whose caches and lookup tables the emulator shows."""

    def ask(self, command):
        """What the emulator says to a command."""
        return gdb.execute("monitor " + command, to_string=True)

    def state(self, core):
        return wait_in(rust(NOTEBOOK + ".wait")) or "runs"

    def mpb(self, rank, first, count):
        """Addresses and contents of lines of an MPB."""
        told = self.ask("mpb %d %d %d" % (rank, first, count))
        lines = re.findall(r"^(0x\w+) line \d+: ([\w ]+)$", told, re.MULTILINE)
        if not lines:
            raise gdb.GdbError(told.strip())
        return [(int(address, 16), bytes.fromhex(data)) for address, data in lines]

    def mpb_address(self, rank, line):
        """Where cores see a line of an MPB."""
        return self.mpb(rank, line, 1)[0][0]

    def mpb_lines(self, rank, first, count):
        """Lines of an MPB as memory has them."""
        return [data for _, data in self.mpb(rank, first, count)]

    def show_lines(self, core):
        """Shows what a core holds."""
        print(self.ask("lines %d" % core), end="")


# The script that attaches says which.
MACHINE = Board() if ON_BOARD else Qemu()
