internal import Foundation
internal import RecordServer
internal import RecordService

/// Where a running service writes what happens: requests into its log, what its administrator
/// should know there and on standard error.
struct ServiceLogbook: Sendable {
    private let file: LogFile?
    private let format: LogFormat
    private let level: LogLevel
    private let console: Console

    init(_ settings: ServeSettings, _ console: Console) throws {
        if let path = settings.logFile {
            try ParentFolder.require(of: path)
            file = try LogFile(path)
        } else {
            file = settings.logsToError ? LogFile() : nil
        }
        format = settings.format
        level = settings.level
        self.console = console
    }

    /// nil where no request is to be logged.
    var accessLog: AccessLog? {
        guard let file, level > .off else { return nil }
        return { [format, level] entry in
            if entry.level <= level { file.write(entry.line(format)) }
        }
    }

    func note(_ notice: ServiceNotice) {
        write(.warning, notice.message, notice.fields)
        console.warn(notice.description)
    }

    func warn(_ message: String) {
        write(.warning, message)
        console.warn(message)
    }

    func noteFailure(_ uuid: String, _ error: any Error) {
        let reason = CommandFailure.describe(error).message
        write(.error, "A request failed: \(reason)", ["id": uuid])
        console.warn("request \(uuid) failed: \(reason)")
    }

    /// Goes on in the file that has the log's name now.
    func reopen() {
        do {
            try file?.reopen()
        } catch {
            console.warn(
                "the log goes on in the file it had: \(CommandFailure.describe(error).message)")
        }
    }

    private func write(_ of: LogLevel, _ message: String, _ fields: [String: String] = [:]) {
        guard let file, of <= level else { return }
        let time = LogTime.text(of: Date())
        let details = fields.sorted { $0.key < $1.key }
        switch format {
        case .json:
            let members: [(String, JSON)] =
                [
                    ("time", .string(time)), ("level", .string(of.rawValue)),
                    ("message", .string(message)),
                ] + details.map { ($0.key, .string($0.value)) }
            file.write(JSON.object(members).text)
        case .text:
            let words = details.map { "\($0.key)=\($0.value)" }
            file.write(
                PlainText.line(([time, of.rawValue, message] + words).joined(separator: " ")))
        }
    }
}
