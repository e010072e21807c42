//! Functions of datatypes and operators, as `atoll/mpi_types.h` has them.

use core::ffi::c_char;

use super::{
    super::{
        handles::Handle,
        listing::table,
        operators::{self, Function, LargeFunction},
        place::Place,
        status::Status,
    },
    making, packing, queries,
};

table! {
    type_contiguous = making::contiguous[count: i32, oldtype: Handle, newtype: Place<Handle>];
    type_contiguous_c = making::contiguous[count: i64, oldtype: Handle, newtype: Place<Handle>];
    type_vector = making::vector[count: i32, blocklength: i32, stride: i32, oldtype: Handle, newtype: Place<Handle>];
    type_vector_c = making::vector[count: i64, blocklength: i64, stride: i64, oldtype: Handle, newtype: Place<Handle>];
    type_create_hvector = making::hvector[
        count: i32, blocklength: i32, stride: isize, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_hvector_c = making::hvector[
        count: i64, blocklength: i64, stride: i64, oldtype: Handle, newtype: Place<Handle>
    ];
    type_indexed = making::indexed[
        count: i32, blocklengths: *const i32, displacements: *const i32, oldtype: Handle, newtype: Place<Handle>
    ];
    type_indexed_c = making::indexed[
        count: i64, blocklengths: *const i64, displacements: *const i64, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_hindexed = making::hindexed[
        count: i32, blocklengths: *const i32, displacements: *const isize, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_hindexed_c = making::hindexed[
        count: i64, blocklengths: *const i64, displacements: *const i64, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_indexed_block = making::indexed_block[
        count: i32, blocklength: i32, displacements: *const i32, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_indexed_block_c = making::indexed_block[
        count: i64, blocklength: i64, displacements: *const i64, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_hindexed_block = making::hindexed_block[
        count: i32, blocklength: i32, displacements: *const isize, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_hindexed_block_c = making::hindexed_block[
        count: i64, blocklength: i64, displacements: *const i64, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_struct = making::structure[
        count: i32, blocklengths: *const i32, displacements: *const isize, types: *const Handle,
        newtype: Place<Handle>
    ];
    type_create_struct_c = making::structure[
        count: i64, blocklengths: *const i64, displacements: *const i64, types: *const Handle, newtype: Place<Handle>
    ];
    type_create_subarray = making::subarray[
        ndims: i32, sizes: *const i32, subsizes: *const i32, starts: *const i32, order: i32, oldtype: Handle,
        newtype: Place<Handle>
    ];
    type_create_subarray_c = making::subarray[
        ndims: i32, sizes: *const i64, subsizes: *const i64, starts: *const i64, order: i32, oldtype: Handle,
        newtype: Place<Handle>
    ];
    type_create_darray = making::darray[
        size: i32, rank: i32, ndims: i32, gsizes: *const i32, distribs: *const i32, dargs: *const i32,
        psizes: *const i32, order: i32, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_darray_c = making::darray[
        size: i32, rank: i32, ndims: i32, gsizes: *const i64, distribs: *const i32, dargs: *const i32,
        psizes: *const i32, order: i32, oldtype: Handle, newtype: Place<Handle>
    ];
    type_create_resized = making::resized[oldtype: Handle, lb: isize, extent: isize, newtype: Place<Handle>];
    type_create_resized_c = making::resized[oldtype: Handle, lb: i64, extent: i64, newtype: Place<Handle>];
    type_dup = making::dup[oldtype: Handle, newtype: Place<Handle>];
    type_commit = making::commit[datatype: Place<Handle>];
    type_free = making::free[datatype: Place<Handle>];
    type_size = queries::size[datatype: Handle, size: Place<i32>];
    type_size_c = queries::size[datatype: Handle, size: Place<i64>];
    type_size_x = queries::size[datatype: Handle, size: Place<i64>];
    type_get_extent = queries::extent[datatype: Handle, lb: Place<isize>, extent: Place<isize>];
    type_get_extent_c = queries::extent[datatype: Handle, lb: Place<i64>, extent: Place<i64>];
    type_get_extent_x = queries::extent[datatype: Handle, lb: Place<i64>, extent: Place<i64>];
    type_get_true_extent = queries::true_extent[datatype: Handle, true_lb: Place<isize>, true_extent: Place<isize>];
    type_get_true_extent_c = queries::true_extent[datatype: Handle, true_lb: Place<i64>, true_extent: Place<i64>];
    type_get_true_extent_x = queries::true_extent[datatype: Handle, true_lb: Place<i64>, true_extent: Place<i64>];
    type_get_envelope = queries::envelope[
        datatype: Handle, num_integers: Place<i32>, num_addresses: Place<i32>, num_datatypes: Place<i32>,
        combiner: Place<i32>
    ];
    type_get_envelope_c = queries::envelope_c[
        datatype: Handle, num_integers: Place<i64>, num_addresses: Place<i64>, num_large_counts: Place<i64>,
        num_datatypes: Place<i64>, combiner: Place<i32>
    ] with (datatype, num_integers, num_addresses, Some(num_large_counts), num_datatypes, combiner);
    type_get_contents = queries::contents[
        datatype: Handle, max_integers: i32, max_addresses: i32, max_datatypes: i32, integers: *mut i32,
        addresses: *mut isize, datatypes: *mut Handle
    ];
    type_get_contents_c = queries::contents_c[
        datatype: Handle, max_integers: i64, max_addresses: i64, max_large_counts: i64, max_datatypes: i64,
        integers: *mut i32, addresses: *mut isize, large_counts: *mut i64, datatypes: *mut Handle
    ];
    type_get_name = queries::get_name[datatype: Handle, type_name: Place<c_char>, resultlen: Place<i32>];
    type_set_name = queries::set_name[datatype: Handle, type_name: *const c_char];
    type_match_size = queries::match_size[typeclass: i32, size: i32, datatype: Place<Handle>];
    type_get_value_index = queries::value_index[value_type: Handle, index_type: Handle, pair_type: Place<Handle>];
    get_elements = queries::elements[status: Place<Status>, datatype: Handle, count: Place<i32>];
    get_elements_c = queries::elements[status: Place<Status>, datatype: Handle, count: Place<i64>];
    get_elements_x = queries::elements[status: Place<Status>, datatype: Handle, count: Place<i64>];
    type_set_attr = queries::set_attr[datatype: Handle, type_keyval: i32, attribute_val: usize];
    type_get_attr = queries::get_attr[datatype: Handle, type_keyval: i32, attribute_val: Place<usize>, flag: Place<i32>];
    type_delete_attr = queries::delete_attr[datatype: Handle, type_keyval: i32];
    pack = packing::pack[
        inbuf: *const u8, incount: i32, datatype: Handle, outbuf: *mut u8, outsize: i32, position: Place<i32>,
        comm: Handle
    ];
    pack_c = packing::pack[
        inbuf: *const u8, incount: i64, datatype: Handle, outbuf: *mut u8, outsize: i64, position: Place<i64>,
        comm: Handle
    ];
    unpack = packing::unpack[
        inbuf: *const u8, insize: i32, position: Place<i32>, outbuf: *mut u8, outcount: i32, datatype: Handle,
        comm: Handle
    ];
    unpack_c = packing::unpack[
        inbuf: *const u8, insize: i64, position: Place<i64>, outbuf: *mut u8, outcount: i64, datatype: Handle,
        comm: Handle
    ];
    pack_size = packing::pack_size[incount: i32, datatype: Handle, comm: Handle, size: Place<i32>];
    pack_size_c = packing::pack_size[incount: i64, datatype: Handle, comm: Handle, size: Place<i64>];
    pack_external = packing::pack_external[
        datarep: *const c_char, inbuf: *const u8, incount: i32, datatype: Handle, outbuf: *mut u8, outsize: isize,
        position: Place<isize>
    ];
    pack_external_c = packing::pack_external[
        datarep: *const c_char, inbuf: *const u8, incount: i64, datatype: Handle, outbuf: *mut u8, outsize: i64,
        position: Place<i64>
    ];
    unpack_external = packing::unpack_external[
        datarep: *const c_char, inbuf: *const u8, insize: isize, position: Place<isize>, outbuf: *mut u8,
        outcount: i32, datatype: Handle
    ];
    unpack_external_c = packing::unpack_external[
        datarep: *const c_char, inbuf: *const u8, insize: i64, position: Place<i64>, outbuf: *mut u8, outcount: i64,
        datatype: Handle
    ];
    pack_external_size = packing::pack_external_size[
        datarep: *const c_char, incount: i32, datatype: Handle, size: Place<isize>
    ];
    pack_external_size_c = packing::pack_external_size[
        datarep: *const c_char, incount: i64, datatype: Handle, size: Place<i64>
    ];
    op_create = operators::calls::create[user_fn: Option<Function>, commute: i32, op: Place<Handle>];
    op_create_c = operators::calls::create_c[user_fn: Option<LargeFunction>, commute: i32, op: Place<Handle>];
    op_free = operators::calls::free[op: Place<Handle>];
    op_commutative = operators::calls::commutative[op: Handle, commute: Place<i32>];
    reduce_local = operators::calls::reduce_local[
        inbuf: *const u8, inoutbuf: *mut u8, count: i32, datatype: Handle, op: Handle
    ];
    reduce_local_c = operators::calls::reduce_local[
        inbuf: *const u8, inoutbuf: *mut u8, count: i64, datatype: Handle, op: Handle
    ];
}
