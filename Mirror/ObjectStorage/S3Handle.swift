internal import CCurl
internal import COpenSSL
internal import Foundation
internal import RecordService

struct S3Request {
    let method: String
    let url: String
    /// The SHA-256 of the body in hexadecimal digits.
    let digest: String
    let address: S3Address
    let limits: S3Limits
}

/// What one request sends or takes, while libcurl has it.
final class S3Transfer {
    /// What is sent: a descriptor, how far it was read, and its size.
    var source: (descriptor: Int32, sent: Int64, size: Int64)?
    /// Where an answer goes whose status says that it is the object.
    var passage: S3Passage?
    /// Keeps an answer that is read as a whole.
    var kept: S3Answer?
    /// How large the head says that the body is; nil before the answer, and where it does not say.
    fileprivate(set) var size: Int64?
    fileprivate var handle: UnsafeMutableRawPointer?

    fileprivate func status() -> Int {
        var value = 0
        if let handle { diptych_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &value) }
        return value
    }

    /// Bytes for the body; nil where the file cannot be read.
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let source else { return 0 }
        let wanted = min(Int64(buffer.count), source.size - source.sent)
        guard wanted > 0 else { return 0 }
        while true {
            let count = pread(
                source.descriptor, buffer.baseAddress, Int(wanted), off_t(source.sent))
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            self.source?.sent += Int64(count)
            return count
        }
    }

    /// Whether the piece was taken. What a store says in the place of an object is dropped.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let status = status()
        if let kept { return kept.take(bytes, status: status) }
        return passage?.take(bytes, status: status) ?? true
    }

    fileprivate func read(header bytes: UnsafeRawBufferPointer) {
        passage?.read(header: bytes)
    }
}

/// An answer in memory, up to a bound.
final class S3Answer {
    private(set) var bytes = Data()
    private(set) var isTooLong = false
    private let bytesMax: Int

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    fileprivate func take(_ piece: UnsafeRawBufferPointer, status: Int) -> Bool {
        // What a store says of a failure is nobody's to read.
        guard status == 200 else { return true }
        isTooLong = bytes.count + piece.count > bytesMax
        if !isTooLong { bytes.append(contentsOf: piece) }
        return !isTooLong
    }
}

/// One of libcurl's handles. Not for two threads at once.
final class S3Handle: @unchecked Sendable {
    // @unchecked: who takes it out of the bucket's list has it alone until it is put back.
    private let pointer: UnsafeMutableRawPointer
    /// A program may end while a connection is made on another thread, so OpenSSL takes nothing
    /// down at the exit.
    private static let isReady =
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
        && curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    private static let readAbort = 0x1000_0000

    init() throws(ObjectStoreFailure) {
        guard Self.isReady, let made = curl_easy_init() else {
            throw ObjectStoreFailure("libcurl cannot start", isTransient: false)
        }
        pointer = made
    }

    deinit { curl_easy_cleanup(pointer) }

    /// The status of the answer. Throws where none came, or not to its end.
    func perform(_ request: S3Request, _ transfer: S3Transfer) throws(ObjectStoreFailure) -> Int {
        curl_easy_reset(pointer)
        transfer.handle = pointer
        apply(request.limits)
        set(CURLOPT_URL, request.url)
        set(CURLOPT_AWS_SIGV4, "aws:amz:\(request.address.region):s3")
        set(CURLOPT_USERNAME, request.address.accessKey)
        set(CURLOPT_PASSWORD, request.address.secretKey)
        if let file = request.address.authorityFile {
            set(CURLOPT_CAINFO, file.path)
            diptych_curl_set_pointer(pointer, CURLOPT_CAPATH, nil)
        }
        var lines = curl_slist_append(nil, "x-amz-content-sha256: \(request.digest)")
        defer { curl_slist_free_all(lines) }
        switch request.method {
        case "PUT":
            diptych_curl_set_long(pointer, CURLOPT_UPLOAD, 1)
            diptych_curl_set_offset(
                pointer, CURLOPT_INFILESIZE_LARGE, curl_off_t(transfer.source?.size ?? 0))
            lines = curl_slist_append(lines, "Content-Type: application/octet-stream") ?? lines
        case "GET":
            diptych_curl_set_long(pointer, CURLOPT_HTTPGET, 1)
            if let range = transfer.passage?.header { set(CURLOPT_RANGE, range) }
        case "HEAD": diptych_curl_set_long(pointer, CURLOPT_NOBODY, 1)
        default: set(CURLOPT_CUSTOMREQUEST, request.method)
        }
        diptych_curl_set_pointer(pointer, CURLOPT_HTTPHEADER, lines)
        let code = withExtendedLifetime(transfer) {
            attach(transfer)
            return diptych_curl_perform(pointer)
        }
        transfer.handle = nil
        // Who has all that was asked for ends an answer that goes on.
        let isEnough = code == CURLE_WRITE_ERROR && transfer.passage?.hasEnough == true
        guard code == CURLE_OK || isEnough else { throw Self.failure(code) }
        var status = 0
        diptych_curl_get_long(pointer, CURLINFO_RESPONSE_CODE, &status)
        transfer.size = size
        return status
    }

    private var size: Int64? {
        var size = curl_off_t(-1)
        diptych_curl_get_offset(pointer, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size)
        return size < 0 ? nil : Int64(size)
    }

    private func attach(_ transfer: S3Transfer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        diptych_curl_set_pointer(pointer, CURLOPT_READDATA, context)
        diptych_curl_set_pointer(pointer, CURLOPT_WRITEDATA, context)
        diptych_curl_set_pointer(pointer, CURLOPT_HEADERDATA, context)
        diptych_curl_set_callback(pointer, CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<S3Transfer>.fromOpaque(context).takeUnretainedValue()
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return transfer.read(into: buffer) ?? S3Handle.readAbort
        }
        diptych_curl_set_callback(pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<S3Transfer>.fromOpaque(context).takeUnretainedValue()
            let buffer = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return transfer.write(buffer) ? size * count : 0
        }
        diptych_curl_set_callback(pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let transfer = Unmanaged<S3Transfer>.fromOpaque(context).takeUnretainedValue()
            transfer.read(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
            return size * count
        }
    }

    private func apply(_ limits: S3Limits) {
        let options: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            (CURLOPT_CONNECTTIMEOUT_MS, Int(limits.connectSeconds * 1_000)),
            (CURLOPT_LOW_SPEED_LIMIT, limits.bytesPerSecondMin),
            (CURLOPT_LOW_SPEED_TIME, Int(limits.stallSeconds.rounded(.up))),
        ]
        for (option, value) in options { diptych_curl_set_long(pointer, option, value) }
        set(CURLOPT_PROTOCOLS_STR, "http,https")
    }

    /// libcurl copies texts.
    private func set(_ option: CURLoption, _ text: String) {
        text.withCString { _ = diptych_curl_set_pointer(pointer, option, $0) }
    }

    /// libcurl's own words name the host, and never what was signed.
    private static func failure(_ code: CURLcode) -> ObjectStoreFailure {
        let words = curl_easy_strerror(code).map { String(cString: $0) } ?? "unknown"
        let isLocal = code == CURLE_ABORTED_BY_CALLBACK || code == CURLE_URL_MALFORMAT
        let isTrust = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE
        return ObjectStoreFailure(words, isTransient: !isLocal && !isTrust)
    }
}
