internal import Foundation

/// The folder in which a file is to be made.
enum ParentFolder {
    /// Throws where there is none, naming the first folder of the path that is missing.
    static func require(of file: URL) throws {
        let folder = file.absoluteURL.deletingLastPathComponent()
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else { return }
            throw CommandError(
                "noFolder", "\(folder.path) is no folder, so \(file.path) cannot be made in it.",
                hint: "Choose another path.")
        }
        var missing = folder
        while missing.path != "/" {
            let above = missing.deletingLastPathComponent()
            if FileManager.default.fileExists(atPath: above.path) { break }
            missing = above
        }
        throw CommandError(
            "noFolder", "There is no folder \(missing.path), so \(file.path) cannot be made.",
            hint: "Make it first: `mkdir -p \(ShellWord.quoted(folder.path))`")
    }
}
