internal import Foundation
internal import Platform
internal import RecordService
internal import RecordWire

/// The page at a share's address: what is shared, and how to take part.
///
/// It has no script, loads nothing and is shown inside no other page. What people wrote stands in
/// it as text only. Of a share that is not public it says what it says where there is none.
struct SharePage {
    private let share: PublicShare?
    /// As the browser knows it.
    private let address: String

    private static let path = "/share/"
    private static let policy =
        "default-src 'none'; style-src 'sha256-\(styleHash)'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'; sandbox"

    init(_ share: PublicShare?, shortGUID: String, serviceAddress: String?) {
        self.share = share
        address = (serviceAddress ?? "https://SERVICE") + Self.path + shortGUID
    }

    /// Letters, digits, `-` and `_`: nothing that means anything to a shell or a page.
    static func isShortGUID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    var answer: HTTPResponse {
        var response = HTTPResponse(status: share == nil ? 404 : 200, body: Data(html.utf8))
        response.headers.append("Content-Type", "text/html; charset=utf-8")
        response.headers.append("Content-Security-Policy", Self.policy)
        response.headers.append("X-Content-Type-Options", "nosniff")
        response.headers.append("X-Frame-Options", "DENY")
        // The address is the invitation.
        response.headers.append("Referrer-Policy", "no-referrer")
        response.headers.append("X-Robots-Tag", "noindex, nofollow")
        response.headers.append("Cross-Origin-Opener-Policy", "same-origin")
        response.headers.append("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.append("Cache-Control", "no-store")
        return response
    }

    // MARK: Text

    private var html: String {
        let title = share.map { $0.title.map(Self.plain) ?? "" } ?? ""
        let heading = share == nil ? "Nothing to see here" : title.isEmpty ? "A share" : title
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.escaped(heading))</title><style>\(Self.style)</style></head>
            <body><main><h1><bdi>\(Self.escaped(heading))</bdi></h1>
            \(share.map(Self.words) ?? Self.wordsForNothing)
            <pre>diptych share STORE accept \(Self.escaped(address))</pre>
            <p>STORE is an empty store of the app's model, which <code>diptych create</code> makes.
            Whoever takes part signs in with tokens of their own.</p>
            </main></body></html>

            """
    }

    private static func words(_ share: PublicShare) -> String {
        let what = share.isZone ? "All objects of a store are" : "An object and all below it are"
        let may = share.permission == .readWrite ? "read and change them" : "read them"
        return """
            <p>\(what) shared. Whoever has this address may \(may).</p>
            <p>It belongs to the app whose container is <code>\(escaped(share.container))</code>
            (\(escaped(share.environment))). Open it in the app, or take part by</p>
            """
    }

    private static let wordsForNothing = """
        <p>There is no share at this address, or one for those alone who were invited. Who was
        invited opens it in the app, or takes part by</p>
        """

    /// Without what would turn the text around, or is no text.
    private static func plain(_ text: String) -> String {
        let kept = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
                .paragraphSeparator:
                false
            default: true
            }
        }
        return String(String.UnicodeScalarView(kept)).trimmingCharacters(in: .whitespaces)
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static let style =
        "body{font:1rem/1.5 system-ui,sans-serif;margin:0;color:#222;background:#fff}"
        + "main{max-width:40rem;margin:3rem auto;padding:0 1rem}h1{overflow-wrap:anywhere}"
        + "pre{padding:.75rem;background:#eee;white-space:pre-wrap;overflow-wrap:anywhere}"
        + "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
        + "pre{background:#2a2a2a}}"
    /// SHA-256 of `style`; a test compares them.
    private static let styleHash = "Q64ad2fFxoM/owLRfDGS8p7KMZSxI+gdptI5r4QIdtU="
}

extension Router {
    /// What the address of a share shows. Who looks pays by address, so that looking for shares is
    /// slow.
    func sharePage(_ shortGUID: String, _ request: HTTPRequest) throws -> HTTPResponse {
        guard let publicShare = door.publicShare else { throw RouteRefusal.notHere }
        if throttlesAddresses { try throttle.check(.address(request.address)) }
        let began = throttle.moment()
        defer {
            if throttlesAddresses { throttle.charge(.address(request.address), since: began) }
        }
        return SharePage(
            try publicShare(shortGUID), shortGUID: shortGUID,
            serviceAddress: request.serviceAddress(scheme: scheme)
        ).answer
    }
}
