/// The bytes of an object, or of a range of it, on their way out of an answer: no byte goes on that
/// was not asked for, whatever the store sends.
final class S3Passage {
    /// What an answer says that it is.
    enum Finding {
        case sound
        case otherSize
        case otherRange
    }

    private let range: Range<Int64>
    private let size: Int64
    private let taking: (UnsafeRawBufferPointer) -> Bool
    /// What the head of a 206 said last.
    private var told: ContentRange?
    /// The place in the object of the next byte that comes; nil before the first.
    private var place: Int64?

    init(
        _ range: Range<Int64>, of size: Int64, _ taking: @escaping (UnsafeRawBufferPointer) -> Bool
    ) {
        self.range = range
        self.size = size
        self.taking = taking
    }

    /// The value of Range, without its unit; nil where the whole is asked for.
    var header: String? {
        range == 0..<size ? nil : "\(range.lowerBound)-\(range.upperBound - 1)"
    }

    /// What to make of a 206.
    var finding: Finding {
        guard let told else { return .otherRange }
        if let whole = told.size, whole != size { return .otherSize }
        return told.first == range.lowerBound ? .sound : .otherRange
    }

    /// Whether the last byte that was asked for went on.
    var hasEnough: Bool { place.map { $0 >= range.upperBound } ?? false }

    func read(header line: UnsafeRawBufferPointer) {
        if let range = ContentRange(line: line) { told = range }
    }

    /// Whether more is wanted. What is no part of the object is dropped.
    func take(_ bytes: UnsafeRawBufferPointer, status: Int) -> Bool {
        guard status == 200 || status == 206 else { return true }
        if status == 206, finding != .sound { return true }
        // A store that knows no ranges sends all of it.
        let start = place ?? (status == 206 ? range.lowerBound : 0)
        let end = start + Int64(bytes.count)
        let wanted = range.clamped(to: start..<end)
        if !wanted.isEmpty {
            let piece = bytes[Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)]
            guard taking(UnsafeRawBufferPointer(rebasing: piece)) else { return false }
        }
        place = end
        return end <= range.upperBound
    }
}

/// `Content-Range: bytes 0-99/5000`. (RFC 9110 §14.4)
private struct ContentRange {
    let first: Int64
    /// Of the whole; nil for `*`.
    let size: Int64?

    /// nil for another line, and for one that cannot be read.
    init?(line: UnsafeRawBufferPointer) {
        guard line.count <= Self.lineBytesMax else { return nil }
        let pair = String(decoding: line, as: UTF8.self).split(separator: ":", maxSplits: 1)
        guard pair.count == 2, pair[0].lowercased() == "content-range" else { return nil }
        let words = pair[1].split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = parts[0].split(separator: "-").first,
            let first = Int64(start)
        else { return nil }
        let size = Int64(parts[1])
        guard size != nil || parts[1] == "*" else { return nil }
        self.first = first
        self.size = size
    }

    private static let lineBytesMax = 200
}
