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
}
