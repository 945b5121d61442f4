// See read_make.hpp.
#include "target/read_make.hpp"

#include <unistd.h>

#include <algorithm>
#if defined(__x86_64__)
#include "target/cpuid.hpp"
#endif

namespace restride {
namespace {

#if defined(__x86_64__)

/// Takes the sizes of the data caches from the leaf in which a maker describes them: 4, or
/// 0x8000001d at AMD.
void read_caches(uint32_t leaf, Make& make) {
  constexpr int most_caches = 8;
  for (int k = 0; k < most_caches; ++k) {
    const CpuidRegisters r = cpuid(leaf, uint32_t(k));
    const uint32_t kind = r.eax & 31, level = r.eax >> 5 & 7;
    if (kind == 0) return;
    if (kind == 2) continue;  // instructions only
    const int64_t ways = (r.ebx >> 22) + 1, partitions = (r.ebx >> 12 & 1023) + 1;
    const int64_t line = (r.ebx & 4095) + 1;
    const int64_t bytes = ways * partitions * line * (int64_t{r.ecx} + 1);
    if (level == 1) make.l1_bytes = bytes, make.line_bytes = line;
    if (level == 2) make.l2_bytes = bytes;
    if (level == 3) make.l3_bytes = bytes;
  }
}

/// Of the processor among those of its maker: 25 is Zen 3 and 4, 26 Zen 5.
uint32_t family() {
  const uint32_t version = cpuid(1, 0).eax, base = version >> 8 & 15;
  return base < 15 ? base : base + (version >> 20 & 255);
}

/// What was measured on Zen 4 alone.
void take_zen4(Make& make) {
  // Where rows begin between lines f32 4097 x 4095 .53 -> .63 of the ceiling, c128 .63 -> .67, 28
  // other matrices and batches of 24 to 120 MB .96 of the time. Eight lines .85 to 1.0, code of
  // half as much again.
  make.shifted_chunk_lines = 4;
  // Where panels came and left by turns, of 11 matrices u8 and u16 in .83 of the time, u8 4161 x
  // 4161 .33 -> .43 of the ceiling, u16 .37 -> .53, f32 .95, f64 .99, c128 1.37.
  make.gathered_row_element_bytes = 4;
  // Images of up to 26 KB leave no room in 32: 52 of 1 to 100 MB .96 of the time, of four columns
  // and of one .97; these alone, not before the panel, .97.
  make.columns_claimed_again = 2;
  // Two halves of a line take as long as the line, a lane of a row goes into one of them for half
  // as much, and networks need half as many registers. In L1 u8 64 x 64 .36 -> .45 of the ceiling,
  // 128 x 128 .41 -> .53, u16 64 x 64 .48 -> .60, f32 .65 -> .80; 17, 26 and 21 transposes of u8,
  // u16 and f32 in .76, .86 and .92 of the time. Outside of L1 halves are written for lines: f32
  // 256 x 256 .90 -> .46.
  make.l1_vector_bytes = 32;
  make.walks_along_source = true;
  make.pairs_meeting_lines = true;
  // Beside neighbours, who take their share of it: 38 transposes of 16 to 20 MB .69 and .73 of the
  // time, 15 of 14 to 16 MB .89 and .92 (44 in a quieter hour .925), 19 to and from tiles .97. From
  // 12 MB on transposes .945, tiles 1.06. Rows that stay whole .91 beside neighbours and 1.05.
  make.transposed_streaming_bytes = make.l3_bytes / 16 * 7;
  // Chunks and rows that repeat pages apart, 14 targets of 19 to 31 MB .65 of the time, 16 bytes
  // behind a line .64, two threads .78: f32[8192] 854 times .39 -> .89 of a fill, f32[114076] 64
  // times .43 -> .96. At 16 MB chunks .6 to 1.5, rows up to 12 KB 1.04 to 1.7; at 28 MB rows .72 to
  // 1.03. Fills and elements 1.1 to 2.1 at 20 to 28 MB; rows nearer than a page at 28 MB .70 to
  // 1.03, two threads .9 to 1.95.
  make.streaming_repeat_bytes = make.l3_bytes / 16 * 9;
  make.streaming_page_repeat_bytes = make.l3_bytes / 16 * 13;
  // A row shares both of its ends with rows that come much later: 66 of 73 problems of 50 to 160 MB
  // with rows of 66 to 500 bytes .72 of the time, 24 others .67, u8[60,4444,300]{2,0,1} .34 -> .87
  // of the ceiling, f32[59,600,75,20]{3,0,2,1} .34 -> .67.
  make.images_rows = true;
  // Reads wait for nothing while columns leave, and rows need not fall into equal shares: 50
  // permutations of 30 to 200 MB .885 of the time, f32[59,96,48,128]{0,2,1,3} .17 -> .55 of the
  // ceiling, f32[59,300,2000] reversed .28 -> .59; u16[22,64,127,83]{0,1,3,2} .49 -> .38.
  make.asks_as_rows_come = true;
  // 67 problems in .90 of the time, .69 -> .77 of the ceiling, two threads .91, 16 bytes behind a
  // line .94: f32[34320,1645] .67 -> .82, [5,816,3617]{1,0,2} .62 -> .89. Rows that begin on lines,
  // 22 in 1.00: [28,48,28,4,352]{1,2,3,0,4} 1.2 and 1.35, u8 4096 x 4096 1.07 and 1.2. Where boxes
  // go on elsewhere 1.2 to 1.5.
  make.asks_down_rows = true;
  make.wide_network_bytes = make.l2_bytes;
  // 41 of 57 cases of ttc in .94 to .98 of the time in four runs, 16 bytes behind a line .95; two
  // more 1.0, three 1.02. 13 matrices .99, behind a line 1.02.
  make.asked_lines_beyond = 1;
  // Six permutations of ttc's family with rows of 384 bytes and 1.5 KB in .95 of the time,
  // f32[96,75,12,608] reversed .69 -> .84 of the ceiling. Of all that stream, whatever their rows,
  // in 1.0; where those of the source are less than 16 KB apart 1.05, u8 1.5 to 2.4.
  make.far_long_run_bytes = 384;
  // 37 problems with rows of 512 bytes to 2 KB .87 of the time; with boxes of 160 KB and more 1.16
  // to 1.6.
  make.whole_row_box_bytes = 128 * 1024;
  // 16 problems with rows of 1280 bytes and more in .87 of the time, f32 500 x 18016 .49 -> .77 of
  // the ceiling, 333 x 27000 .49 -> .65, c128 411 x 1500 .62 -> .85; with rows of 500 to 1200 bytes
  // .9 to 1.4.
  make.shifted_touching_run_bytes = 1280;
  // Boxes of 2 to 4 KB asked for the next one too late: 48 problems in .76 of the time, .69 -> .90
  // of the ceiling, f32[1496,16,128,8]{2,0,3,1} .59 -> 1.1, f64[800000,8] .83 -> 1.05. Of 2 and 8
  // KB .87 and .75 where these take .76.
  make.touching_rows_run_bytes = 4096;
  // From 1 KB on the target goes on from box to box (box_order.cpp), and memory answers longer
  // pieces of rows sooner. 25 cases of ttc in .88 of the time, .64 -> .73 of the ceiling, f32 7264
  // x 7264 .58 -> .90; square matrices of 4000 to 12000 rows .54 to .9, f16 12000 x 12000 .47 ->
  // .88; 41 of the suites and random ones .90, f32[8,4096,14,72]{1,3,2,0} .51 -> .85. Two threads
  // .85, 16 bytes behind a line .99. Columns of 1.5 and 2 KB the same, of 3 KB 1.3; bytes .77
  // to 1.36; rows of the source that begin between lines 1.1 to 1.3; columns of 256 bytes side by
  // side 1.1. Of several digits 1.5 KB .86, 2.3 KB .87, 3 KB .84 and 6 KB .83 of the time with 1
  // KB.
  make.streamed_column_bytes = 1024;
  make.streamed_digits_bytes = 3072;
  // u8 32 x 16 .51 -> .54, f32 16 x 16 .69 -> .52, u16 32 x 16 .53 -> .43.
  make.dense_ring_bytes = 1;
}

/// What was measured on Zen 3, which has no AVX-512, where it differs from Zen 4.
void take_zen3(Make& make) {
  // The second level, which boxes are asked for to, is half as large. 25 matrices in .93 of the
  // time of 1 KB, f32 6080 x 6400 .54 -> .81 of the ceiling, f16 8000 x 6400 .46 -> .6; six of
  // f64 1.03 to 1.06; 21 permutations 1.02, without the line beyond .98.
  make.streamed_column_bytes = 512;
  // 14 matrices in .93 of the time, 33 others in .98.
  make.asked_lines_beyond = 0;
  // Boxes leave around the caches through panels, which takes longer than what shares sets waits.
  // With blocks of twice the size from 7 MB on, pairs of bytes from scratch by two lines of each
  // column, and images (schedule_gather.cpp), 70 problems of .5 to 130 MB in .62 of the time, .25
  // -> .41 of the ceiling, two threads .67, 16 bytes behind a line .71: u8 1024 x 4096 .17 -> .47,
  // f32 [32,512,96] reversed .18 -> .46. At 17 MB .6 beside quiet neighbours, 1.6 to 2 beside
  // others; pairs of bytes nearer than pages and bytes whose rows do not crowd 1.1 to 1.5; larger
  // blocks of smaller arrays 1.0 to 1.1.
  make.kept_crowded_streaming_bytes = make.transposed_streaming_bytes;
  make.far_gather_bytes = make.l3_bytes / 32 * 7;
  // The other processors were not looked at.
  make.spreads_runs = true;
}

/// What was measured on Zen 5 alone.
void take_zen5(Make& make) {
  // f64 3000 x 3304 .70 -> .88 of the ceiling, 9 cases in .85 of the time. Zen 4 likes pages: 17 of
  // f64 .91 of the time, [480,120,640] reversed .75 -> 1.03, 2048 x 2048 .62 -> .72, but 50000 x
  // 512 1.1; f32 1.0 to 1.47.
  make.page_element_bytes = 16;
  // u8 32 x 16 .36 -> .50 of the ceiling, 32 x 32 .33 -> .44, u16 16 x 16 .37 -> .50, f32 8 x 16
  // .38 -> .49; but f64 8 x 8 .55 -> .52.
  make.dense_ring_bytes = 4;
  // Runs of 12 KB 1.3 times as fast in targets of 25 MB, of 64 KB and more 1.2 times in 3 to 12 MB,
  // 1.7 times in 20 to 40 MB; in 67 MB runs of 16 KB 1.2 times slower, of 1 MB 1.1 times faster.
  make.stored_run_bytes = 12 * 1024;
  make.run_fill_bytes = make.l3_bytes / 2 * 3;
  // Boxes of up to 36 KB stay in a first level of 48.
  make.asked_level = 1;
  // Narrow columns that crowd sets narrowed, counted by lines, or written few at a time: u16 2049 x
  // 128 .08 -> .42 of the ceiling, 2048 x 128 .14 -> .34, [24,256,64] reversed .10 -> .48.
  make.crowded_stores_wait = true;
  // 18 cases .90 of the time (schedule_between_lines.cpp).
  make.shifted_touching_run_bytes = 704;
  // By panels 13 transposes of u8 and u16 .72 of the time, u16 256 x 256 x 256 reversed .24 -> .41
  // of the ceiling, u8 256 x 65536 .48 -> .88; but u8[192,512,512] reversed .32 -> .23.
  make.gathers_streamed_lines = false;
}

/// What was measured on Emerald Rapids, where permutes of 64 bytes wait for one port of three.
void take_intel(Make& make) {
  make.skews_rows = true;
  // u8 32 x 16 .42 -> .56 of the ceiling, 4 x 8 x 16 reversed .39 -> .54.
  make.dense_ring_bytes = 1;
  // In L1 c128 32 x 32 .47 -> .63 of the ceiling, f64 16 x 16 .37 -> .41, 40 x 48 .39 -> .46; f32
  // 1.09 of the time, u8 and u16 1.1 to 1.3.
  make.network_piece_bytes = 32;
  make.least_piece_element_bytes = 8;
  // 34 permutations in .92 of the time: u8[4,39,7,236,384]{3,1,4,2,0} .19 -> .52 of the ceiling,
  // f16[107,10,85,12,28]{0,2,3,4,1} .30 -> .54.
  make.asks_as_rows_come = true;
  // 80 problems of 2.5 to 17 MB in .94 of the time, of elements of four bytes and more .91: f32[25,
  // 84,651] reversed .46 -> .55 of the ceiling, c128[7,251,259]{0,2,1} .71 -> .99; but f16[52,82,
  // 362] reversed .50 -> .22. From 2.6 MB on the same, half of the smaller ones 1.1 to 1.6.
  make.far_imaging_bytes = 2 * make.l2_bytes;
  // With lines of the target asked for in time 176 transposes in .89 of the time: u32[24,64,64]
  // reversed .32 -> .62 of the ceiling, f64 257 x 257 .40 -> .68, c128 .53 -> .94; bytes of
  // more than 32 rows that share a set up to 1.3 times as long.
  make.rereads_crowded_rows = true;
  // 38 transposes of u16 that begin between lines in .93 of the time, 39 of f32 .93: f16 7138 x 340
  // .67 -> .78 of the ceiling, f32 3550 x 338 .68 -> .83, [50,169,4,374]{2,1,3,0} 1.09; u8 .98, .85
  // to 1.17.
  make.by_turns_element_bytes = 2;
  // 30 problems with long rows, of 4 to 200 MB, in .94 of the time, copies without gaps .85 (.98 ->
  // 1.12 of the ceiling), f32 to narrower types .90.
  make.row_streams = 4;
  // Boxes of 16 KB one ahead, not two: 22 cases of ttc in .976 of the time (f32[96,75,75,96]
  // reversed .73 -> .81 of the ceiling, 7264 x 7264 .79 -> .87), 44 other problems in .96 (f32
  // 8192 x 8192 .91).
  make.asked_ahead_bytes = 16 * 1024;
  // 105 transposes of 3 to 64 MB in .88 of the time, two threads .91: f32 1024 x 1024 .63 -> .89 of
  // the ceiling, f16 1536 x 1536 .67 -> .91; larger ones .96, but on two threads 1.10, up to 1.9.
  make.follows_source_bytes = 32 * make.l2_bytes;
  // 78 computations in .76 of the time, .34 -> .44 of the ceiling, two threads .75 (s8 1586 x 1357
  // to f32, transposed, .16 -> .60), those that stay in the caches 1.08; 18 permutes .82, two
  // threads .78: s8[2688,6435]{0,1:T(8,128)(4,1)} to rows .09 -> .45.
  make.claims_streamed_lines = true;
  // 53 problems with shorter runs than 1 KB in .66 of the time, .55 -> .83 of the ceiling:
  // s8[30204, 847]{1,0:T(8,128)(4,1)} to rows .24 -> .62, [103,607] .36 -> .83, 2036 x 69 .56 ->
  // .72.
  make.claimed_permuted_run_bytes = 0;
  // 41 transposes of s8 and bf16 with odd rows to and from tiles of fours and pairs in .34 of the
  // time, .28 -> .78 of the ceiling: s8[1725,4165]{0,1} to T(32,128)(4,1) .10 -> .84.
  make.joins_cut_elements = true;
  // 79 problems with rows of less than 512 bytes, most of them from tiles, in .81 of the time, 9
  // others .65: bf16[5992,2000] from T(16,128) .55 -> .80 of the ceiling, f32[8,7722,13,13] from
  // blocks of 8 channels to pixels .39 -> .91.
  make.images_rows_with_rests = true;
  // 38 permutations with rows of 512 bytes to 4 KB that both operands have, of more than 16 MB, in
  // .61 of the time, .54 -> .88 of the ceiling, 16 bytes behind a line .64, two threads .69:
  // f64[14,763,194]{2,0,1} .52 -> .97; of smaller ones .92 to 1.39.
  make.joins_whole_lines = true;
  // 22 problems from filters to tiles of their channels in .69 of the time, two threads .70, 16
  // bytes behind a line .77: f32[976,768,3,3] to T(8,8,1,1) .37 -> .90 of the ceiling, bf16[1104,
  // 3072,3,3] to T(16,16,1,1) .43 -> .98; of up to 1 KB f32 1.0 to 1.3, s8 1.9.
  make.run_along_source_bytes = 512;
  // Transposes that are repeated 2 to 16 times: 52 in .70 of the time with large blocks (bf16[2877,
  // 940] 8 times .19 -> .86 of a fill), of those that stream 39 in .73 again with whole rows
  // (u8[456,10548] 16 times .37 -> .84).
  make.repeats_large_blocks = true;
  // 24 transposes of s4 and to u4 in .38 of the time, .21 -> .48 of the ceiling: s4[4090,4000] .13
  // -> .51, [5624,15176] .12 -> .58.
  make.shifts_mixed_rows = true;
  // 70 conversions, sums and comparisons with long rows in .82 of the time, .53 -> .65 of the
  // ceiling, 16 bytes behind a line .82, two threads .81: s32[617,6245] to f32, transposed, .35 ->
  // .60, s32[377,1] times [1,54471] .35 -> 1.0; three 1.1 to 1.3.
  make.shifts_computed_rows = true;
  // 42 conversions and sums in the caches in .90 of the time, 16 bytes behind a line .94:
  // f64[38,89] plus another, transposed, .27 -> .51 of the ceiling, f32 256 x 256 to s8 .39 -> .58;
  // eight 1.1 to 1.4. What streams 1.3 to 1.8.
  make.computes_first = true;
  // An image, the lines that it is made of and those that come next do not stay in L1 together: 84
  // transposes of f32, f64 and c128 with images of 16 KB and more in .82 of the time, f64 381 x 738
  // .47 -> .82 of the ceiling, c128 .59 -> .86, 37 with 12 to 16 KB .90 (f32[4,253,16,80]{1,3,2,0}
  // .57 -> .79), with 8 to 12 KB .98 to 1.31. u16 .85 to 1.0, beyond 32 MB 1.4.
  make.shifted_touching_image_bytes = make.l1_bytes / 4;
  // 48 transposes of f32, f64 and c128 of 3.5 to 120 MB with rows of 512 to 1020 bytes in .85 of
  // the time by images, .74 -> .86 of the ceiling, 16 bytes behind a line .93, two threads .84:
  // c128[41,35033]{0,1} .56 -> 1.0; of 1 to 1.5 KB f32 1.4, f64 1.0, c128 .94.
  make.shifted_touching_run_bytes = 1024;
  // 19 permutations in .82 of the time: f32[80,72,72,31]{2,0,3,1} .56 -> .78 of the ceiling,
  // [20,32,32,12,2,12]{0,1,5,3,4,2} .41 -> .57, u8[40,8,256,40,16]{0,2,4,3,1} .45 -> .53; runs of
  // 448 bytes 1.5, of up to 2 KB .8 to 1.9.
  make.whole_line_image_bytes = 1024;
  // 13 transposes from tiles, whose runs end with the rows of tiles, in .78 of the time, .45 -> .58
  // of the ceiling, 16 bytes behind a line .64, two threads .82: f32[84,79675] from T(8,128) .46 ->
  // .58. Of 128 bytes up to 1.9; one of 130 other permutations has such runs.
  make.wide_image_run_bytes = 256;
  // 40 transposes of f32 and f64 in .96 of the time, on two threads .88: f32[32,64,76,10,12]
  // {2,0,3,1,4} .64 -> .82 of the ceiling, two 1.11 and 1.17; of u8 and u16 up to 1.8.
  make.piece_element_bytes = 4;
  // 58 transposes of f32 and f64 of 34 to 150 MB in .78 of the time, .57 -> .73 of the ceiling, 16
  // bytes behind a line .93, two threads .80: f64 493587 x 15 .53 -> .88, f32 285387 x 38 .48 ->
  // .82.
  make.images_long_runs = true;
  // 299 transposes of u8 and u16 of 2.5 to 32 MB in .82 of the time, .58 -> .83 of the ceiling, 16
  // bytes behind a line .81, two threads .82; beyond 40 MB .7 to 2.1.
  make.narrow_streaming_bytes = std::min(16 * make.l2_bytes, make.l3_bytes / 2);
  // 142 transposes of u8, u16 and f32 in .83 of the time (u8[48,2100] reversed .49 -> .68 of the
  // ceiling), 16 bytes behind a line .87, two threads .84; rows of 49 to 128 bytes .9 to 1.7, of 32
  // up to 1.2, those that go on in another digit .8 to 2.
  make.lane_rows_bytes = 48;
  // 49 transposes of .3 to 2.5 MB in .78 of the time, 16 bytes behind a line .77, two threads .88:
  // u16 4097 x 128 .35 -> .65 of the ceiling; u8 and f32 of 1 MB .85 to 1.5.
  make.crowded_between_lines_bytes = make.l2_bytes / 8 * 7;
  // 40 transposes of 4 KB to 12 MB with rows of 12 to 63 bytes in .80 of the time (f64[3,15,17,66]
  // reversed .40 -> .77 of the ceiling, f64[5,45,30,3]{0,1,3,2} .37 -> .64), 47 with rows of 98 to
  // 127 bytes and of less .81; 16 bytes behind a line .69, two threads .69; those of narrow
  // networks, 6 of u16, .81 and .65 (bf16[1,11,112,112] to T(16,1,1) .54 -> .96); short rows of the
  // source .7 to 1.7, those that stream 1.4.
  make.permuted_row_bytes = make.line_bytes;
  // 30 filters of bytes to tiles in .73 of the time (s8[100,47,3,3] to T(32,16,1,1) .24 -> .53 of
  // the ceiling, s8[64,9,3,3] to T(8,8,1,1) .12 -> .24), with nine of fewer channels 16 bytes
  // behind a line .86, two threads .84; where channels are mostly padding 1.0 to 1.5.
  make.transposed_column_bytes = 9;
  // Neighbours leave less of the third level at times: fills of 48 to 60 MB .5 to .8 of the time
  // around the caches, of 20 to 36 MB 1.04 to 1.15, of 40 MB .95 and 1.01.
  make.streaming_fill_bytes = std::min(make.streaming_fill_bytes, 16 * make.l2_bytes);
}

/// What the processor says of itself, and what was measured on those of its maker.
void read_processor(Make& make) {
  constexpr uint32_t amd_extensions = 0x80000001, amd_caches = 0x8000001d, topology = 1u << 22;
  read_caches(4, make);
  const bool amd = has_bits(cpuid(amd_extensions, 0).ecx, topology);
  if (amd) read_caches(amd_caches, make);
  // A third level near the cores (AMD; Intel's where it includes the second) is worth writing to:
  // on Zen 5 regular stores win until five eighths of it are full (f32 1400 x 1420, 16 MB in all,
  // 1.11 times, 1700 x 1720, 23 MB, .81). Intel's servers have one
  // behind a mesh: on Sapphire Rapids a copy of 2 MiB in all is 1.2 times faster with regular
  // stores, one of 4 MiB 1.3 times slower.
  constexpr uint32_t third_level = 3, inclusive = 1u << 1;
  const bool near = amd || has_bits(cpuid(4, third_level).edx, inclusive);
  make.streaming_bytes = near ? make.l3_bytes / 8 * 5 : make.l2_bytes / 4 * 5;
  make.transposed_streaming_bytes = make.streaming_bytes;
  // Not if few sets have to hold what is written: f32 1024 x 1024 .23 -> .69 of the ceiling, u8
  // 2048 x 2048 .22 -> .41, f16[32,2048,7,7]{1,3,2,0} .18 -> .56; but u8 512 x 512 .41 -> .20.
  make.crowded_streaming_bytes = std::min(make.streaming_bytes, make.l2_bytes / 2 * 3);
  // Zen 4, 22 transposes of 8 to 21 MB: .86 of the time from 15 MB on, .88 from 18, .91 from 12.
  make.gathered_streaming_bytes = near ? make.l3_bytes / 16 * 7 : make.streaming_bytes;
  // What is only written may lie behind the mesh: there regular stores fill 4 to 16 MiB 1.1 to 1.3
  // times faster, 17 to 64 MiB 1.5 times, where a quarter of it is to be had. (Where neighbours
  // leave less, 17 to 28 MiB take 1.2 times as long in the median, 32 MiB up to 2.5 times.)
  // Where it is near, on Zen 5 17 to 31 MiB of 32 1.2 to 2.1 times faster.
  make.streaming_fill_bytes =
      near ? make.l3_bytes / 16 * 15 : std::max(make.l2_bytes * 8, make.l3_bytes / 4);
  // Of 64 random transposes of 4 to 16 MB those that were moved through the caches took .78 of the
  // time, of 128 larger ones 1.3 times as much.
  make.imaging_bytes = near ? make.streaming_bytes : make.l2_bytes * 8;
  // There lines that are asked for before they are written come sooner: a fill of 3 MiB 1.15 times,
  // of 1.5 or 6 MiB 1.07 times.
  if (!near) make.claiming_bytes = make.l2_bytes / 2;
  // vpermi2b and vpermi2w: one operation on Zen 4, three on Sapphire Rapids.
  make.narrow_permute_steps = amd ? 1 : 3;
  // Zen 5: rows of 128 bytes to 8 KB in the order of the source .75 -> .90 of the ceiling, by one
  // load in a loop of its own .94; that alone .68.
  make.reads_ahead_by_step = amd;
  // Zen 5: rows of 40 bytes one after the other by loads through masks 15 GB/s, by others 32.
  make.reads_ahead_of_masks = !amd;
  // Zen 5, 12 problems of ttc and 4 matrices: runs of 256 bytes .93 of the time
  // (f32[28,28,28,48,48] {3,1,4,0,2} .63 -> .79 of the ceiling, u16 4096 x 4096 .65 -> .92), of
  // 512 1.14.
  if (amd) make.long_run_bytes = 256;
  if (amd) make.uncut_run_bytes = 2048;
  // 16 bytes behind a line. Zen 5: rows of 384 bytes 34 GB/s, with the lines at both ends asked for
  // before they are stored to 50, on a line 48; runs of 192 bytes .72 to 1.5 of the time. Zen 4: 57
  // cases of ttc in .97 of the time, 20 matrices of 8 MB and more in .92 (without what is peeled).
  if (amd) make.masked_stores_wait = true;
  if (amd) make.shifted_box_bytes = 256;
  // Zen 5 loads two pieces a cycle and unpacks four vectors: f32 64 x 64 .43 -> .67 of the ceiling,
  // 69 random transposes of 4 KB to 4 MB .92 of the time. Zen 4 does half of that, and gains as
  // much: 60 random ones of 4 KB to 2 MB .96 of the time, u16 256 x 256 .73 -> .87, u8[32,2048,49]
  // {1,2,0} .21 -> .34, f32 to s8 transposed .28 -> .40.
  if (amd) make.network_piece_bytes = 32;
  // Stores that miss L1 wait less than asking for their lines costs: of 230 transposes of .1 to 20
  // MB the 150 that asked take .985 of the time without on Zen 4, u16 512 x 784 .74 -> .83 of the
  // ceiling, 256 x 256 .87 -> .97, f32 256 x 256 .91 -> .96; on Zen 5 230 others .994.
  if (amd) make.claims_transposed_lines = false;
  constexpr uint32_t zen5 = 26, extended_features = 7, avx512f = 1u << 16;
  if (amd) family() >= zen5 ? take_zen5(make) : take_zen4(make);
  const bool wide = has_bits(cpuid(extended_features, 0).ebx, avx512f);
  if (amd && !wide) take_zen3(make);
  if (!amd && wide) take_intel(make);
  // Of 3072 (Zen 4) or 4096 (Zen 5): 7 problems of ttc .99 of the time, ttc56 .93.
  if (amd) make.translated_pages = 2688;
}

#else

void read_processor(Make& make) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const auto take = [](int name, int64_t& bytes) {
    const int64_t value = sysconf(name);
    if (value > 0) bytes = value;
  };
  take(_SC_LEVEL1_DCACHE_LINESIZE, make.line_bytes);
  take(_SC_LEVEL1_DCACHE_SIZE, make.l1_bytes);
  take(_SC_LEVEL2_CACHE_SIZE, make.l2_bytes);
  take(_SC_LEVEL3_CACHE_SIZE, make.l3_bytes);
#else
  (void)make;
#endif
}

#endif

}  // namespace

Make read_make() {
  Make make;
  read_processor(make);
  const int64_t page = sysconf(_SC_PAGESIZE);
  if (page > 0) make.page_bytes = page;
  return make;
}

}  // namespace restride
