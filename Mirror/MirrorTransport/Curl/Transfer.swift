internal import CCurl
internal import Foundation
internal import Platform

/// Tells a transfer, from any thread, that nobody waits for it any more.
package final class CancelFlag: Sendable {
    private let flag = Lock(false)

    package init() {}
    package func cancel() { flag.withLock { $0 = true } }
    package var isCancelled: Bool { flag.withLock { $0 } }
}

/// What libcurl's callbacks fill while one call is performed. No callback traps or throws.
final class Transfer {
    let cancelFlag: CancelFlag
    private let bytesMax: Int
    private let output: CurlOutput?
    /// Of the answer whose head came last.
    private var status = 0
    private var written: Int64 = 0
    /// Lines that follow a body are of no head.
    private var hasBegun = false
    /// The output could not be written.
    private(set) var outputError: Int32?
    private(set) var headers: [String: String] = [:]
    private(set) var body = Data()
    private var refusal: Refusal?
    private(set) var sent: Int64 = 0
    private(set) var received: Int64 = 0

    /// Why an answer is not taken.
    private enum Refusal {
        case tooLarge
        /// It has not what was asked for.
        case unfit
    }

    var isTooLarge: Bool { refusal == .tooLarge }
    var isUnfit: Bool { refusal == .unfit }

    init(bytesMax: Int, output: CurlOutput?, cancelFlag: CancelFlag) {
        self.bytesMax = bytesMax
        self.output = output
        self.cancelFlag = cancelFlag
    }

    /// Takes decompressed bytes; false stops the transfer.
    fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if let output, status == 200 || status == 206 { return write(bytes, to: output) }
        guard body.count + bytes.count <= bytesMax else {
            refusal = .tooLarge
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// A 200 without a body begins the file anew as well. False stops the transfer.
    private func endHead() -> Bool {
        guard let output, status == 200 || status == 206, !hasBegun else { return true }
        hasBegun = true
        if status == 200, ftruncate(output.descriptor, 0) != 0 {
            outputError = errno
            return false
        }
        guard output.begin(status, headers) else {
            refusal = .unfit
            return false
        }
        return true
    }

    private func write(_ bytes: UnsafeRawBufferPointer, to output: CurlOutput) -> Bool {
        written += Int64(bytes.count)
        guard written <= output.bytesMax else {
            refusal = .tooLarge
            return false
        }
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(output.descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                outputError = errno
                return false
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Takes a line of a head; false stops the transfer.
    fileprivate func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let line = HeadLine(bytes)
        // A new status line: what came before was an interim answer such as 100 Continue.
        if let status = line.status {
            headers = [:]
            hasBegun = false
            self.status = status
        }
        if line.isEmpty { return endHead() }
        if let (name, value) = line.field { headers[name] = value }
        return true
    }

    fileprivate func count(_ kind: curl_infotype, _ size: Int) {
        switch kind {
        case CURLINFO_HEADER_OUT, CURLINFO_DATA_OUT: sent += Int64(size)
        case CURLINFO_HEADER_IN, CURLINFO_DATA_IN: received += Int64(size)
        default: break
        }
    }

    /// Points the handle's callbacks here; the transfer must outlive the call.
    func attach(to handle: UnsafeMutableRawPointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        diptych_curl_set_callback(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let transfer = Transfer.at(context) else { return 0 }
            let buffer = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return transfer.takeBody(buffer) ? buffer.count : 0
        }
        diptych_curl_set_pointer(handle, CURLOPT_WRITEDATA, context)
        diptych_curl_set_callback(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            let buffer = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let transfer = Transfer.at(context) else { return 0 }
            return transfer.takeHeader(buffer) ? buffer.count : 0
        }
        diptych_curl_set_pointer(handle, CURLOPT_HEADERDATA, context)
        diptych_curl_set_progress(handle) { context, _, _, _, _ in
            Transfer.at(context)?.cancelFlag.isCancelled == true ? 1 : 0
        }
        diptych_curl_set_pointer(handle, CURLOPT_XFERINFODATA, context)
        diptych_curl_set_long(handle, CURLOPT_NOPROGRESS, 0)
        diptych_curl_set_debug(handle) { _, kind, _, size, context in
            Transfer.at(context)?.count(kind, size)
            return 0
        }
        diptych_curl_set_pointer(handle, CURLOPT_DEBUGDATA, context)
        // Only with it does libcurl show the bytes that are counted above.
        diptych_curl_set_long(handle, CURLOPT_VERBOSE, 1)
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }
}
