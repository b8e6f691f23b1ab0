internal import Foundation

/// The lines of a file or of standard input, which can be gone through several times. Memory holds
/// one line and a block; what cannot be read twice is kept in a nameless file meanwhile.
final class LineSource {
    private let file: Int32
    private let name: String
    private let start: off_t
    private let lineBytesMax: Int
    private let interruption: Interruption
    /// Where a pipe's bytes are kept for the next time.
    private var spool: Int32?
    private var stamp: Stamp?
    private var isRead = false
    /// Bytes read in this pass.
    private(set) var position = 0
    /// Bytes in all; nil as long as a pipe was not read to its end.
    private(set) var size: Int?

    private struct Stamp: Equatable {
        var size: off_t
        var seconds: Int
        var nanoseconds: Int
    }

    /// `path` may be `-` for standard input. Where the lines are waited for, `interruption` ends
    /// that.
    init(_ path: String, lineBytesMax: Int, interruption: Interruption) throws {
        name = path == "-" ? "standard input" : path
        self.lineBytesMax = lineBytesMax
        self.interruption = interruption
        file = path == "-" ? dup(STDIN_FILENO) : Self.opened(path)
        var facts = stat()
        guard file >= 0, fstat(file, &facts) == 0, facts.st_mode & S_IFMT != S_IFDIR else {
            if file >= 0 { close(file) }
            throw GivenFile.unreadable(
                path, as: "file", code: "noFile",
                hint: "Give a text file in UTF-8, or - for standard input.")
        }
        start = lseek(file, 0, SEEK_CUR)
        if facts.st_mode & S_IFMT == S_IFREG, start >= 0 {
            size = max(Int(facts.st_size - start), 0)
            stamp = Self.stamp(of: file)
        }
    }

    /// A pipe that nobody writes to yet is opened all the same; its lines are waited for.
    private static func opened(_ path: String) -> Int32 {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if file >= 0 { _ = fcntl(file, F_SETFL, O_RDONLY) }
        return file
    }

    deinit {
        close(file)
        if let spool { close(spool) }
    }

    /// Hands each line that is not blank to `body`, with its number, from the beginning. Throws a
    /// `CommandError` for a line that is too long, and for a file that somebody changes meanwhile.
    func forEachLine(_ body: (UnsafeBufferPointer<UInt8>, Int) throws -> Void) throws {
        let input = try rewind()
        let block = LineBlock(bytesMax: lineBytesMax)
        var number = 0
        position = 0
        func hand(_ line: UnsafeBufferPointer<UInt8>) throws {
            number += 1
            let line = number == 1 ? Self.withoutMark(line) : line
            if !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
                try body(line, number)
            }
        }
        while true {
            while let line = block.nextLine() { try hand(line) }
            guard let space = block.space() else {
                let most = lineBytesMax >> 20
                throw CommandError(
                    "badLine", "Line \(number + 1): It is longer than \(most) MB, or has no end.",
                    hint: "Allow more with --longest-line. Nothing was imported.")
            }
            let count = try read(input, into: space)
            guard count > 0 else { break }
            block.fill(count)
            position += count
        }
        if let rest = block.rest() { try hand(rest) }
        try checkUnchanged()
        if size == nil { size = position }
        isRead = true
    }

    /// A byte order mark, as some programs put it, is no part of the first line.
    private static func withoutMark(
        _ line: UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8> {
        line.starts(with: [0xEF, 0xBB, 0xBF])
            ? UnsafeBufferPointer(rebasing: line.dropFirst(3)) : line
    }

    // MARK: Passes

    private func rewind() throws -> Int32 {
        if stamp != nil {
            lseek(file, start, SEEK_SET)
            return file
        }
        if isRead, let spool {
            lseek(spool, 0, SEEK_SET)
            return spool
        }
        spool = try Self.namelessFile()
        return file
    }

    private func checkUnchanged() throws {
        guard stamp == Self.stamp(of: file) || stamp == nil else {
            throw CommandError(
                "changed", "\(name) changed while it was read.",
                hint: "Run it again when nobody writes to the file. Nothing was imported.")
        }
    }

    private static func stamp(of file: Int32) -> Stamp? {
        var facts = stat()
        guard fstat(file, &facts) == 0 else { return nil }
        return Stamp(
            size: facts.st_size, seconds: facts.st_mtim.tv_sec,
            nanoseconds: facts.st_mtim.tv_nsec)
    }

    // MARK: Bytes

    private func read(_ input: Int32, into space: UnsafeMutableRawBufferPointer) throws -> Int {
        if input == file { try interruption.wait(for: input) }
        var count = Glibc.read(input, space.baseAddress, space.count)
        while count < 0, errno == EINTR {
            count = Glibc.read(input, space.baseAddress, space.count)
        }
        guard count >= 0 else {
            throw CommandError(
                "noFile", "\(name) cannot be read to its end.", hint: "Nothing was imported.")
        }
        if let spool, input == file {
            try Self.keep(UnsafeRawBufferPointer(rebasing: space[..<count]), in: spool)
        }
        return count
    }

    private static func keep(_ bytes: UnsafeRawBufferPointer, in spool: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = write(spool, part.baseAddress, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw noRoom }
            rest = rest.dropFirst(count)
        }
    }

    /// A file that goes with its descriptor.
    private static func namelessFile() throws -> Int32 {
        let folder = FileManager.default.temporaryDirectory.path
        var path = Array("\(folder)/diptych-import-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { throw noRoom }
        unlink(path)
        return file
    }

    private static var noRoom: CommandError {
        CommandError(
            "diskFull", "There is no room to keep the lines for a second reading.",
            hint: "Make room in \(FileManager.default.temporaryDirectory.path), choose another "
                + "folder with TMPDIR, or give a file instead of standard input.")
    }
}

/// A stretch of bytes in which lines are found.
private final class LineBlock {
    private var storage: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    private var scanned = 0
    private let bytesMax: Int
    private static let bytesMin = 1 << 18

    init(bytesMax: Int) {
        self.bytesMax = max(bytesMax, Self.bytesMin)
        storage = .allocate(byteCount: Self.bytesMin, alignment: 16)
    }

    deinit { storage.deallocate() }

    /// The next whole line, without its end; nil where more bytes are wanted.
    func nextLine() -> UnsafeBufferPointer<UInt8>? {
        guard scanned < end, let base = storage.baseAddress else { return nil }
        guard let found = memchr(base + scanned, 0x0A, end - scanned) else {
            scanned = end
            return nil
        }
        let newline = UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
        defer { (start, scanned) = (newline + 1, newline + 1) }
        return bytes(start..<newline)
    }

    /// What stands behind the last newline.
    func rest() -> UnsafeBufferPointer<UInt8>? { start < end ? bytes(start..<end) : nil }

    private func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        var range = range
        if !range.isEmpty, storage[range.upperBound - 1] == 0x0D {
            range = range.lowerBound..<range.upperBound - 1
        }
        return UnsafeRawBufferPointer(rebasing: storage[range]).assumingMemoryBound(to: UInt8.self)
    }

    /// Room for more bytes; nil where the line is as long as a line may be.
    func space() -> UnsafeMutableRawBufferPointer? {
        if start > 0 {
            storage.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<end]))
            (start, end, scanned) = (0, end - start, scanned - start)
        }
        if end == storage.count {
            guard storage.count < bytesMax else { return nil }
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: min(storage.count * 2, bytesMax), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<end]))
            storage.deallocate()
            storage = larger
        }
        return UnsafeMutableRawBufferPointer(rebasing: storage[end...])
    }

    func fill(_ count: Int) { end += count }
}
