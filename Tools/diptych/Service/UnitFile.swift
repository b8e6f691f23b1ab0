internal import Foundation

/// A file of systemd that this command writes.
enum UnitFile {
    /// Writes it, over a former one that begins with the same mark, and over nobody else's.
    static func write(_ text: String, to folder: URL, named name: String, mark: String) throws {
        let file = folder.appendingPathComponent(name)
        if let former = try? String(contentsOf: file, encoding: .utf8), !former.hasPrefix(mark) {
            throw CommandError(
                "exists", "\(file.path) is there already, and is not this command's.",
                hint: "Move it away first.")
        }
        // As `systemctl link` leaves one behind whose file was moved.
        try PrivateFile.refuseDeadLink(file)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw CommandError(
                "cannotWrite", "\(file.path) cannot be written.",
                hint: "Check the rights of its folder and the free space.")
        }
    }

    /// The file this process runs.
    static var program: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "diptych"
    }

    /// A word as systemd reads it: in quotes, without its specifiers and variables. What would act
    /// on a terminal is written with the escapes that systemd undoes.
    static func quoted(_ word: String) -> String {
        let inner = word.unicodeScalars.map { scalar in
            switch scalar {
            case "\\", "\"": "\\\(scalar)"
            case "$", "%": "\(scalar)\(scalar)"
            case _ where PlainText.acts(scalar): UTF8.encode(scalar)?.map(escape).joined() ?? ""
            default: String(scalar)
            }
        }
        return "\"\(inner.joined())\""
    }

    private static func escape(_ byte: UInt8) -> String {
        "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    /// Words for people.
    static func escaped(_ text: String) -> String {
        PlainText.line(text).replacing("%", with: "%%")
    }
}
