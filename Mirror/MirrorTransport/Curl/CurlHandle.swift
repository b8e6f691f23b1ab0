internal import CCurl
internal import Foundation
internal import Platform

/// One libcurl handle: its connections stay open between calls. Not for two threads at once.
package final class CurlHandle {
    private let pointer: UnsafeMutableRawPointer
    private let limits: CurlLimits
    private let counts: Lock<ByteCount>

    package convenience init(limits: CurlLimits) throws {
        try self.init(limits: limits, counts: Lock(ByteCount()))
    }

    init(limits: CurlLimits, counts: Lock<ByteCount>) throws {
        guard CurlLibrary.isReady, let made = curl_easy_init() else {
            throw TransportError(.failed, "libcurl cannot start; look at the memory left.")
        }
        pointer = made
        self.limits = limits
        self.counts = counts
    }

    deinit { curl_easy_cleanup(pointer) }

    package var byteCount: ByteCount { counts.withLock { $0 } }

    /// Sends and waits for the whole answer, whatever its status. Blocks. Throws `TransportError`.
    package func perform(_ call: CurlCall, cancelFlag: CancelFlag = CancelFlag()) throws
        -> CurlAnswer
    {
        guard !cancelFlag.isCancelled else { throw CurlFailure.cancelled }
        let transfer = Transfer(
            bytesMax: limits.responseBytesMax, output: call.output, cancelFlag: cancelFlag)
        curl_easy_reset(pointer)
        applyLimits()
        if call.isLong { diptych_curl_set_long(pointer, CURLOPT_TIMEOUT_MS, 0) }
        if call.isFresh { diptych_curl_set_long(pointer, CURLOPT_FRESH_CONNECT, 1) }
        transfer.attach(to: pointer)
        var words = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let code = words.withUnsafeMutableBufferPointer { buffer in
            diptych_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, buffer.baseAddress)
            defer { diptych_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, nil) }
            return withExtendedLifetime(transfer) { run(call) }
        }
        count(transfer)
        guard code == CURLE_OK else {
            let text = String(decoding: words.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            throw failure(code, transfer, text, url: URL(string: call.url))
        }
        return CurlAnswer(
            status: long(CURLINFO_RESPONSE_CODE), headers: transfer.headers, body: transfer.body)
    }

    private func run(_ call: CurlCall) -> CURLcode {
        var lines: UnsafeMutablePointer<curl_slist>?
        defer { curl_slist_free_all(lines) }
        for (name, value) in call.headers {
            lines = curl_slist_append(lines, "\(name): \(value)") ?? lines
        }
        return call.url.withCString { url in
            call.method.withCString { method in
                call.body.withUnsafeBytes { body in
                    diptych_curl_set_pointer(pointer, CURLOPT_URL, url)
                    diptych_curl_set_pointer(pointer, CURLOPT_HTTPHEADER, lines)
                    setMethod(call.method, method, body)
                    return diptych_curl_perform(pointer)
                }
            }
        }
    }

    private func setMethod(
        _ name: String, _ method: UnsafePointer<CChar>, _ body: UnsafeRawBufferPointer
    ) {
        switch name {
        case "GET": diptych_curl_set_long(pointer, CURLOPT_HTTPGET, 1)
        case "HEAD": diptych_curl_set_long(pointer, CURLOPT_NOBODY, 1)
        default:
            diptych_curl_set_long(pointer, CURLOPT_POST, 1)
            diptych_curl_set_pointer(pointer, CURLOPT_POSTFIELDS, body.baseAddress ?? .init(method))
            diptych_curl_set_offset(
                pointer, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            diptych_curl_set_pointer(pointer, CURLOPT_CUSTOMREQUEST, method)
        }
    }

    private func applyLimits() {
        let options: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            (CURLOPT_FOLLOWLOCATION, 0),
            (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
            (CURLOPT_TCP_KEEPALIVE, 1),
            // A proxy's answer to CONNECT is none of the service's.
            (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            (CURLOPT_CONNECTTIMEOUT_MS, Self.whole(limits.connectSeconds * 1_000)),
            (CURLOPT_TIMEOUT_MS, Self.whole(limits.totalSeconds * 1_000)),
            (CURLOPT_LOW_SPEED_LIMIT, 1),
            (CURLOPT_LOW_SPEED_TIME, Self.whole(limits.stallSeconds.rounded(.up))),
            // Authorities are read anew for each connection: their file may have been replaced.
            (CURLOPT_CA_CACHE_TIMEOUT, 0),
        ]
        for (option, value) in options { diptych_curl_set_long(pointer, option, value) }
        setText(CURLOPT_PROTOCOLS_STR, "http,https")
        // Empty: every encoding this libcurl can undo.
        setText(CURLOPT_ACCEPT_ENCODING, "")
        if let file = limits.authorityFile {
            setText(CURLOPT_CAINFO, file.path)
            diptych_curl_set_pointer(pointer, CURLOPT_CAPATH, nil)
        }
        if let rate = limits.bytesPerSecondMax {
            diptych_curl_set_offset(pointer, CURLOPT_MAX_SEND_SPEED_LARGE, curl_off_t(rate))
            diptych_curl_set_offset(pointer, CURLOPT_MAX_RECV_SPEED_LARGE, curl_off_t(rate))
        }
    }

    /// What libcurl takes for a time. One without an end is 0 there.
    private static func whole(_ time: Double) -> Int {
        time.isFinite ? Int(min(max(time, 0), Double(Int32.max))) : 0
    }

    /// libcurl copies texts, so they need not outlive the call.
    private func setText(_ option: CURLoption, _ text: String) {
        text.withCString { _ = diptych_curl_set_pointer(pointer, option, $0) }
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        diptych_curl_get_long(pointer, info, &value)
        return value
    }

    private func count(_ transfer: Transfer) {
        let opened = Int64(long(CURLINFO_NUM_CONNECTS))
        counts.withLock { counts in
            counts.sent += transfer.sent
            counts.received += transfer.received
            counts.requests += 1
            counts.connections += opened
        }
    }

    private func failure(
        _ code: CURLcode, _ transfer: Transfer, _ words: String, url: URL?
    ) -> TransportError {
        if transfer.isTooLarge {
            return CurlFailure.tooLarge(limits.responseBytesMax, host: url?.host)
        }
        if transfer.isUnfit { return CurlFailure.otherAsset }
        if let number = transfer.outputError { return CurlFailure.output(number) }
        if code == CURLE_ABORTED_BY_CALLBACK { return CurlFailure.cancelled }
        return CurlFailure.error(
            code, words, verification: long(CURLINFO_SSL_VERIFYRESULT), url: url)
    }
}
