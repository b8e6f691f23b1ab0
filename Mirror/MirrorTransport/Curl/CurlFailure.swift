internal import CCurl
internal import Foundation

/// libcurl's failures in our words.
enum CurlFailure {
    static let cancelled = TransportError(.cancelled, "The request was cancelled.")

    static let otherAsset = TransportError(
        .connectionLost, "The asset that came is not the one that was asked for; try again.")

    static func tooLarge(_ bytesMax: Int, host: String?) -> TransportError {
        TransportError(
            .responseTooLarge,
            "The answer is larger than this client takes; ask for fewer results at a time.",
            fields: ["bytesMax": String(bytesMax), "host": host ?? ""])
    }

    static func output(_ number: Int32) -> TransportError {
        TransportError(
            .cannotWrite,
            "The file of a downloaded asset cannot be written; look at the disk and the free space "
                + "on it.", fields: ["reason": String(cString: strerror(number))])
    }

    /// `verification` is OpenSSL's result for the chain. With a refused certificate, 0 and 1 (where
    /// libcurl had not yet asked for it) mean that only its names are wrong.
    static func error(
        _ code: CURLcode, _ words: String, verification: Int, url: URL?
    ) -> TransportError {
        let text = words.isEmpty ? String(cString: curl_easy_strerror(code)) : words
        let fields = [
            "host": url?.host ?? "", "address": address(url), "curlCode": String(code.rawValue),
            "curlMessage": text,
        ]
        let (kind, message) =
            code == CURLE_PEER_FAILED_VERIFICATION
            ? refusedCertificate(verification)
            : meaning(of: wasCut(code, text) ? CURLE_GOT_NOTHING : code, at: address(url))
        return TransportError(kind, message, fields: fields)
    }

    private static func refusedCertificate(_ verification: Int) -> (TransportError.Code, String) {
        // 9 and 10 are X509_V_ERR_CERT_NOT_YET_VALID and _HAS_EXPIRED.
        switch verification {
        case 0, 1:
            (
                .tlsWrongHost,
                "The service's certificate is for other hosts; use the name it was made for, or "
                    + "let the service make one for this name."
            )
        case 9, 10:
            (
                .tlsUntrusted,
                "The service's certificate is not valid at this time; look at both clocks, and "
                    + "restart the service so that it renews its certificate."
            )
        default:
            (
                .tlsUntrusted,
                "The service's certificate is signed by no authority trusted here; name the "
                    + "service's authority.pem as the CA file (authorityFile, --ca-file)."
            )
        }
    }

    /// Whether the connection ended while TLS was being agreed, as when the service is restarted:
    /// libcurl tells that from a disagreement by OpenSSL's words only.
    private static func wasCut(_ code: CURLcode, _ words: String) -> Bool {
        let marks = ["SSL_ERROR_SYSCALL", "reset by peer", "unexpected eof", "Broken pipe"]
        return code == CURLE_SSL_CONNECT_ERROR && marks.contains { words.contains($0) }
    }

    /// Scheme, host and port; what stands behind them may be nobody's business.
    private static func address(_ url: URL?) -> String {
        guard let url, let scheme = url.scheme, let host = url.host else {
            return "the service's address"
        }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(name)" + (url.port.map { ":\($0)" } ?? "")
    }

    private static func meaning(
        of code: CURLcode, at address: String
    ) -> (TransportError.Code, String) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            (.offline, "The host of \(address) cannot be found; look at the network and the name.")
        case CURLE_COULDNT_CONNECT:
            (.cannotConnect, "Nothing answers at \(address); is the service running?")
        case CURLE_OPERATION_TIMEDOUT:
            (.timedOut, "\(address) took too long; try again later or allow more time.")
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE,
            CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (
                .connectionLost,
                "The connection with \(address) ended before the answer was whole; try again."
            )
        case CURLE_SSL_CACERT_BADFILE:
            (.badConfiguration, "The CA file cannot be read; name a PEM file of certificates.")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM:
            (.tlsFailed, "TLS cannot be agreed with \(address); does it speak https?")
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL:
            (
                .badResponse,
                "What answers at \(address) is no record service; look at the address and port."
            )
        case CURLE_URL_MALFORMAT:
            (.badConfiguration, "The service's address cannot be read; write https://host:port.")
        default:
            (.failed, "The request failed in libcurl; its own words stand in the fields.")
        }
    }
}
