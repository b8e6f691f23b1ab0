internal import Foundation
internal import MirrorTransport

/// A file with the tokens of a container and a user: lines `api: …` and `user: …`, or a JSON object
/// with these names.
enum TokenFile {
    /// Reads the tokens. `isOpen` tells that others than the owner may read the file.
    static func read(_ file: URL) throws -> (credentials: Credentials, isOpen: Bool) {
        let (words, isOpen) = try words(of: file)
        guard let api = words["api"], !api.isEmpty else {
            throw CommandError(
                "noTokens", "\(file.path) holds no API token.",
                hint: "It has two lines, 'api: …' and 'user: …', or a JSON object with both.")
        }
        return (Credentials(apiToken: api, userToken: words["user"]), isOpen)
    }

    /// What stands before and behind the colons of a file of secrets, and whether others than the
    /// owner may read it.
    static func words(of file: URL) throws -> ([String: String], isOpen: Bool) {
        guard let data = try? Data(contentsOf: file), data.count < 65_536 else {
            throw CommandError(
                "noTokens", "The token file \(file.path) cannot be read.",
                hint: "Name the file that `diptych serve` wrote into its data folder.")
        }
        var facts = stat()
        let isOpen = stat(file.path, &facts) == 0 && facts.st_mode & 0o077 != 0
        return (fields(in: data), isOpen)
    }

    private static func fields(in data: Data) -> [String: String] {
        if let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] {
            return object.compactMapValues { $0 as? String }
        }
        var fields: [String: String] = [:]
        for line in TextLines.all(of: String(decoding: data, as: UTF8.self)) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, !line.hasPrefix("#") else { continue }
            fields[parts[0].trimmingCharacters(in: .whitespaces)] =
                parts[1].trimmingCharacters(in: .whitespaces)
        }
        return fields
    }

    /// Puts another user token into a file that is there, and leaves the rest of it.
    static func replaceUserToken(by token: String, in file: URL) throws {
        try PrivateFile.alone(with: file) {
            let data = try Data(contentsOf: file)
            try PrivateFile.write(try text(of: data, with: token), to: file)
        }
    }

    private static func text(of data: Data, with token: String) throws -> String {
        if var object = try? JSONSerialization.jsonObject(with: data) as? [String: Any] {
            object["user"] = token
            let text = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            return String(decoding: text, as: UTF8.self) + "\n"
        }
        let lines = TextLines.all(of: String(decoding: data, as: UTF8.self))
        let renewed = lines.map { line in
            let isUser =
                line.split(separator: ":").first?.trimmingCharacters(in: .whitespaces) == "user"
            return isUser ? "user: \(token)" : line
        }
        return renewed.joined(separator: "\n")
    }

    /// The tokens of the variables DIPTYCH_API_TOKEN and DIPTYCH_USER_TOKEN.
    static func credentials(in environment: [String: String]) -> Credentials? {
        environment["DIPTYCH_API_TOKEN"].map {
            Credentials(apiToken: $0, userToken: environment["DIPTYCH_USER_TOKEN"])
        }
    }

    /// Writes a file that only its owner can read. Nobody's file is overwritten.
    static func write(api: String, user: String, container: String, to file: URL) throws {
        let text = """
            # Tokens for \(container). Who has them can read and write its records.
            api: \(api)
            user: \(user)

            """
        try PrivateFile.write(text, to: file)
    }
}

/// Small files that only their owner can read. A link counts as the file it leads to.
enum PrivateFile {
    /// Puts a file with this text in the place of what was there, whole or not at all. Throws where
    /// it cannot be written.
    static func write(_ text: String, to file: URL) throws {
        let place = file.resolvingSymlinksInPath().path
        let (part, descriptor) = try makePart(of: file)
        let bytes = Array(text.utf8)
        let isWritten =
            Foundation.write(descriptor, bytes, bytes.count) == bytes.count
            && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(part, place) == 0 else {
            let error = failure(file)
            unlink(part)
            throw error
        }
    }

    /// Whether anything has the file's name, be it a link that leads nowhere: what it is to lead to
    /// may come back, as with a volume that is not mounted just now.
    static func isTaken(_ file: URL) -> Bool {
        var facts = stat()
        return lstat(file.path, &facts) == 0
    }

    /// Throws for a link that leads nowhere: a file in its place would hide what it leads to.
    static func refuseDeadLink(_ file: URL) throws {
        var facts = stat()
        guard isTaken(file), stat(file.path, &facts) != 0, errno == ENOENT else { return }
        throw CommandError(
            "deadLink", "\(file.path) is a link to a file that is not there.",
            hint: "Bring that file back, or remove the link.")
    }

    /// Throws where the file could not be written now: before what cannot be had twice is asked
    /// for.
    static func requireRoom(for file: URL) throws {
        let (part, descriptor) = try makePart(of: file)
        close(descriptor)
        unlink(part)
    }

    /// Under a name of its own: others may write the file just now, and NAME.part is somebody's.
    private static func makePart(of file: URL) throws -> (path: String, descriptor: Int32) {
        try refuseDeadLink(file)
        let path = "\(file.resolvingSymlinksInPath().path).\(UUID().uuidString.prefix(8)).part"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(file) }
        return (path, descriptor)
    }

    /// Runs `body`, which writes what it makes of the file's contents, while nobody else does so to
    /// a file of the same folder: what others wrote is read, not written over.
    static func alone<Result>(with file: URL, _ body: () throws -> Result) rethrows -> Result {
        let path = file.resolvingSymlinksInPath().deletingLastPathComponent().path
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        if folder >= 0 { while flock(folder, LOCK_EX) != 0, errno == EINTR {} }
        return try body()
    }

    private static func failure(_ file: URL) -> CommandError {
        let reason = String(cString: strerror(errno))
        return CommandError(
            "cannotWrite", "\(file.path) cannot be written: \(reason).",
            hint: "Check the folder's rights and the free space.")
    }
}
