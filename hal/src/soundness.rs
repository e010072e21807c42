//! What may be relied on: who may make what, what each unsafe trait promises, and what whoever takes a slice promises.
//!
//! # What safe code can count on
//!
//! Safe code that has a core (`C: Core`) and what others gave it gets no access to memory that is not shared memory, an
//! MPB, a register of the chip, or its own. It reaches shared memory by loads, stores and copies, which several cores may
//! do to the same bytes at any time: no safe function makes a reference into it, and where processors run side by side, what
//! they move is atomic, by whole words (a view's smaller elements are parts of them). All elements are [`Pod`](crate::Pod):
//! there are no bytes that are not a value.
//!
//! Nothing is promised about *which* value a load finds where a program leaves out what keeps memory coherent, asserts of
//! an epoch what is not so, or goes on using a region or a view of memory that was given back to the allocator. The first is
//! what this library is for, and none of it is ever undefined.
//!
//! # Who may make what
//!
//! | what | who makes it | how |
//! |---|---|---|
//! | [`MpbLine`](crate::MpbLine), [`SharedAddress`](crate::SharedAddress) | anybody | they are names: lines are copied, never borrowed, and an address opens nothing |
//! | [`Region`](crate::Region) | who holds [`Regions`](crate::Regions); parts, joins and other mappings of a region, anybody who has it | `collectives::Comm` keeps the right, and gives out regions by allocations (`Comm::share`, `SharedAllocator`), windows and exposures |
//! | [`Regions`](crate::Regions) | the launcher of a core, in `kernel`, once: it has taken the core's `Caches` | `unsafe`; programs never see it |
//! | [`Caches`](crate::Caches) | the core, once | [`Cached::take_caches`](crate::Cached::take_caches); no other core takes them for its own, nor one of another machine in the process |
//! | [`LocalView`](crate::LocalView) | anybody, of a region | [`Cached::claim`](crate::Cached::claim): views of one core never overlap, those of several may |
//! | slices | who has a view and the core's `Caches`, and knows that nobody stores there | `unsafe`; they end before anything takes `&mut Caches` |
//! | [`Exposure`](crate::Exposure) | anybody, of memory that is [`Exposable`](crate::Exposable) | [`Expose::expose`](crate::Expose::expose) takes the memory until [`end`](crate::Exposure::end), which is refused before all cores that have reached it [let go](crate::Expose::let_go) of it |
//! | cores | the backend, one for each processor | `start_core` on bare metal, `Machine::run` in the simulator; what is below one nobody gets, since that would end exposures and slices unasked |
//!
//! The right to make regions is looked at where a region is made. No access asks for it. What another core exposes is looked
//! for where the access is, on boards in a list of this core's own after the first: so no region of what is not exposed, or
//! not any more, leads anywhere, whoever made it. By which slot it is reached is asked after that, since to look maps the
//! owner's list, perhaps in the place of that slot.
//!
//! What ranks tell each other of regions lies in MPB lines and uncached words, which a program can store to. Words that are
//! no region of this machine's memory panic, as do accesses to a line that no MPB has; nor is a region viewed or accessed that
//! was made on a larger machine, as the simulator may have several in a process. Others lead to shared memory, where all
//! that a wrong region can do is to find wrong values, since bytes that several cores store to are values for Rust only in
//! slices.
//!
//! # Slices
//!
//! Rust holds that nothing changes under a slice. Other cores can store to what it looks at in many ways: by an epoch that
//! somebody has asserted to need no check (`NO_CHECK`, `NO_PRECEDE`), by a region of `Comm::share`, past the views of a
//! window, by a barrier that met another one than was meant, by a region that was given back. Where every core has copies of
//! its own, that does not reach the slice, unless its line is *evicted* meanwhile, on a board at any time, in QEMU when
//! frames run out, in the simulator never: it comes back from memory at the next access. Nothing in the hardware tells, and
//! a check of each store would cost what this library exists to save. So slices are `unsafe` to take
//! ([`LocalView::as_slice`](crate::LocalView::as_slice)), by those who know the whole program. Types see to one half, that a
//! slice ends before its core's next coherence point; that nobody else stores there before is the promise. Whoever would not
//! give it has loads, stores and copies of the view.
//!
//! Where cores see the same copies, or memory itself, a broken promise is found:
//!
//! | machine | what a slice looks at | what is refused meanwhile |
//! |---|---|---|
//! | every core is a coherence domain | the core's own copy | nothing: others store to memory, or to copies of theirs |
//! | domains of several cores (`--domains`, clusters) | the copy that the domain shares | slices and stores by views of the domain's other cores; stores to memory that would change the copy |
//! | memory is coherent (`--coherent`) | memory itself | slices and stores of all other cores, by views and past them, and the own core's past its view |
//!
//! A view looks for slices in the same operation as it accesses memory: no handler of interrupts, and no other core where
//! cores take turns, comes in between. On a machine that is coming to its end, where programs leave off anywhere, what a
//! slice excludes does not happen, and is no news.
//!
//! A *mutable* slice excludes loads, too. A slice counts from the call that made it to its core's next *coherence point*
//! (what takes `&mut Caches`; [`end_slices`](crate::Cached::end_slices) is one that moves no data), or until its view shows
//! that it is gone, by a store, or by being dropped. What is refused panics with `slice conflict:`, who did what, and whose
//! slice is in the way. A flush by another core leaves alone what a mutable slice looks at. If it finds that another domain
//! has stored to memory under a slice, it says so in the same way, and writes nothing there.
//!
//! Where every core is a domain by itself, nothing is kept account of, and views cost what the hardware costs. Nor is
//! everything found elsewhere:
//!
//! * **Processors that really run at the same time** (`--thread-multi`, PCs, threads of the host): a view asks before its access, and a slice may
//!   be made between the two. QEMU's default gives way in waits only, so that nothing comes between.
//! * **A load past all views that waits** for a word of memory that is coherent asks at each of its polls, but not while it
//!   is parked in the simulator.
//!
//! # What each unsafe trait promises
//!
//! | trait | promise | who relies on it |
//! |---|---|---|
//! | [`Exposable`](crate::Exposable) | always the same memory, which nobody reaches but through the value, and which stays if the value is forgotten | `expose`, which lets other cores store there |
//! | [`ViewWindow`](crate::cached::ViewWindow) | what was touched is there; no view of the core overlaps another; slices exclude as above, where there is an account, until an access has ended | [`LocalView`](crate::LocalView), whose accesses are raw |
//! | [`kit::CachedMemory`](crate::kit::CachedMemory) | the same of one core's hardware, and that no other value is that core | [`kit::HardwareCore`](crate::kit::HardwareCore), which is the window of its views |
//! | [`kit::Hardware`](crate::kit::Hardware) | one account, always the same; nobody but the core on top calls it | the same, whose views, exposures and token are in that account |
//! | [`kit::ExposedMemory`](crate::kit::ExposedMemory) | a region that is exposed leads to its memory until nobody reaches it any more | the same, whose exposures keep the memory |
//! | `emulated::Platform` | lines and words are shared memory; `shared_memory` is valid; slices are asked where memory is coherent; what is exposed is reached until it is concealed, and not after | `emulated::Emulated`, the hardware of an emulated core |
//! | `emulated::PageWindow` | contents and twins of frames are memory of their own; a page that was taken away is fetched before it is accessed | the account of copies |
//! | [`Pod`](crate::Pod) | any bytes are a value, none of it is padding | every copy |
//!
//! Of the functions, those are `unsafe` that make one of these values ([`Regions::new`](crate::Regions::new),
//! [`Caches::new`](crate::Caches::new), [`LocalView::new`](crate::LocalView::new), [`Exposure::new`](crate::Exposure::new)),
//! that end one, or an operation, behind its back (`ViewWindow::touch`, `end_access` and `release`, `ExposureHost::conceal`), that
//! take a slice ([`as_slice`](crate::LocalView::as_slice), [`as_mut_slice`](crate::LocalView::as_mut_slice)), that put hardware or
//! a program on top of what only their caller knows to be one core's (`emulated::Emulated::new`, `kernel::launch::run_on_core`), that
//! count on calls that nest (`sim::report_faults_of`), that look at what others use (a report's `Spot::here`), and that
//! change what an address means, a cache holds, or a processor does (page tables, lookup tables, descriptor tables, the
//! local APIC, interrupts, caches, the chip's registers). Each has a section *Safety*. What is called within operations
//! only, such as a poll, is no part of the interface: a handler of interrupts could come in the middle.
//!
//! # Statics
//!
//! On bare metal every core has statics of its own; what vCPUs share lies in a section of the emulator's and is atomic or
//! under a lock. `bare::private::Private` is `Sync` for that reason alone, and is used with the core's own handlers kept
//! away. A core that waits tells the others a text, which has to be one of the image's constants: others have something else where a core has made a text.
//! In the simulator all cores run on one thread, one at a time, and only change places within operations: *they share what is local to
//! a thread, and their calls do not nest*. So nothing may be lent to a thread-local across an operation, as `scoped_thread_local!` does: the
//! core that ends last would leave what belongs to another. No check can find that. What threads
//! share there is the number of runs so far, which tells machines apart, and what a report of a fault needs. Where cores are
//! threads of the host, `sim::report_faults_of` notes which core a thread is, for that thread alone: a handler of signals reads it
//! only on the thread that it interrupts, and it is taken back before the core goes, since calls on a thread nest, and a simulated core is refused. Once faults are reported, only one
//! thread simulates at a time, since a report reads the machine. Which threads are cores is under a
//! lock, for which no handler waits.
