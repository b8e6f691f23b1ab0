#pragma once
#include <zlib.h>

// The init functions of zlib are macros, which Swift cannot import.
static inline int diptych_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}
static inline int diptych_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

// The gzip sibling that `compressBound` and `compress2` lack: one whole input, one whole output.
static inline size_t diptych_gzip_bound(size_t count) { return compressBound(count) + 18; }

// Returns Z_OK and the bytes written in *output_count, whose value before is the room there is.
static inline int diptych_gzip(
    const void *input, size_t count, void *output, size_t *output_count, int level
) {
    z_stream stream = {0};
    int status = deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    if (status != Z_OK) return status;
    if (count > 0xFFFFFFFF || *output_count > 0xFFFFFFFF) { deflateEnd(&stream); return Z_BUF_ERROR; }
    stream.next_in = (Bytef *) input;
    stream.avail_in = (uInt) count;
    stream.next_out = output;
    stream.avail_out = (uInt) *output_count;
    status = deflate(&stream, Z_FINISH);
    *output_count = stream.total_out;
    deflateEnd(&stream);
    return status == Z_STREAM_END ? Z_OK : Z_BUF_ERROR;
}
