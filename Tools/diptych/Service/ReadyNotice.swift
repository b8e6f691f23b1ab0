internal import Foundation
internal import RecordServer

/// What a service says once it listens: how to connect.
struct ReadyNotice {
    let url: URL
    let container: String
    let tokenFile: URL
    let authorityFile: URL?
    let dataFolder: URL
    let isFirstRun: Bool
    /// Where figures are to be had.
    var metrics: ListenPlace?
    /// Set only where they are to be shown.
    var tokens: (api: String, user: String)?
    var hasConsole = false

    private var consoleAddress: String { url.absoluteString + "/console" }

    var json: JSON {
        var members: [(String, JSON)] = [
            ("event", "ready"), ("url", .string(url.absoluteString)),
            ("port", JSON(url.port ?? 0)), ("container", .string(container)),
            ("tokenFile", .string(tokenFile.path)), ("caFile", JSON(authorityFile?.path)),
            ("dataFolder", .string(dataFolder.path)), ("firstRun", .bool(isFirstRun)),
            ("processID", JSON(Int(getpid()))),
        ]
        if let metrics { members.append(("metrics", .string(Self.address(of: metrics)))) }
        if hasConsole { members.append(("console", .string(consoleAddress))) }
        if let tokens {
            members.append(("tokens", ["api": .string(tokens.api), "user": .string(tokens.user)]))
        }
        return .object(members)
    }

    private static func address(of place: ListenPlace) -> String {
        let host = place.address.contains(":") ? "[\(place.address)]" : place.address
        return "http://\(host):\(place.port)/metrics"
    }

    func print(_ console: Console) {
        guard !console.isJSON else { return console.emit(json) }
        var table = TextTable(indent: 2)
        table.add("address", url.absoluteString)
        table.add("container", container)
        table.add("token file", tokenFile.path + (isFirstRun ? "  (made now)" : ""))
        if let authorityFile { table.add("CA file", authorityFile.path) }
        if let metrics { table.add("figures", Self.address(of: metrics)) }
        if hasConsole { table.add("console", consoleAddress) }
        if let tokens {
            table.add("API token", tokens.api)
            table.add("user token", tokens.user)
        }
        console.title("The record service listens.")
        console.block(table.text)
        console.block("\nPut a store under sync:")
        console.line("  " + exampleLine)
        console.line("")
        console.aside("Ctrl-C ends it.")
    }

    var exampleLine: String {
        let authority = authorityFile.map { " --ca-file \(ShellWord.quoted($0.path))" } ?? ""
        return "diptych sync STORE --model MODEL --service \(url.absoluteString) "
            + "--container \(ShellWord.quoted(container)) "
            + "--token-file \(ShellWord.quoted(tokenFile.path))\(authority)"
    }

    func printEnd(_ console: Console, requests: Int) {
        if console.isJSON {
            console.emit(["event": "stopped", "requests": JSON(requests)])
        } else {
            console.line("The service ended after \(Figure.count(requests, "request")).")
        }
    }
}

extension JSON: ExpressibleByStringLiteral {
    init(stringLiteral value: String) { self = .string(value) }
}
