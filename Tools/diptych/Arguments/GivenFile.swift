internal import Foundation

/// What is in a file that a call names, also in a pipe: shells make one of `<(…)`, and Foundation
/// reads none.
enum GivenFile {
    /// Throws where the file cannot be read. Of a longer one than `bytesMax` comes more than that,
    /// but not all.
    static func data(_ file: URL, bytesMax: Int? = nil) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        guard let bytesMax else { return try handle.readToEnd() ?? Data() }
        return try handle.read(upToCount: bytesMax + 1) ?? Data()
    }

    /// Why the file of a path that was given could not be read as text; `what` is what the call
    /// wants of it, and `hint` how to give one.
    static func unreadable(
        _ path: String, as what: String, code: String, hint: String, status: ExitStatus = .failed
    ) -> CommandError {
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if !isThere, path != "-" {
            return CommandError(
                code, "There is no file \(path).", hint: "Check the path. " + hint, status: status)
        }
        if isFolder.boolValue {
            return CommandError(code, "\(path) is a folder.", hint: hint, status: status)
        }
        return CommandError(
            code, "The \(what) \(path) cannot be read.", hint: hint, status: status)
    }
}
