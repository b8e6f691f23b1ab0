internal import Foundation

/// Refuses a body in which one object names a member twice: the reader would keep one of the two
/// values and lose the other without a word. Foundation also takes two spellings of one letter for
/// one name.
///
/// Runs before the body is parsed, so that it must judge any bytes. Cost: one pass.
struct UniqueKeys {
    private struct Frame {
        var isObject: Bool
        var awaitsKey: Bool
        var keys: [Range<Int>] = []
        /// Whether a key has bytes outside ASCII, or escapes.
        var hasOddKey = false
    }

    private let bytes: UnsafeRawBufferPointer
    private var frames: [Frame] = []
    private static let fewKeys = 12

    static func check(_ body: Data) throws(RecordError) {
        let key = body.withUnsafeBytes { bytes -> String? in
            var scan = UniqueKeys(bytes: bytes)
            return scan.firstRepeated()
        }
        guard let key else { return }
        throw RecordError(
            .badRequest,
            "The body names \(key) twice in one object, by the same letters; name it once.")
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func firstRepeated() -> String? {
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = endOfText(from: index + 1)
                take(index + 1..<end.index, isOdd: end.isOdd)
                index = end.index
            case UInt8(ascii: "{"): frames.append(Frame(isObject: true, awaitsKey: true))
            case UInt8(ascii: "["): frames.append(Frame(isObject: false, awaitsKey: false))
            case UInt8(ascii: ","):
                if let last = frames.indices.last { frames[last].awaitsKey = frames[last].isObject }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if let frame = frames.popLast(), let key = repeated(in: frame) { return key }
            default: break
            }
            index += 1
        }
        return nil
    }

    private func endOfText(from start: Int) -> (index: Int, isOdd: Bool) {
        var index = start
        var isOdd = false
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\") {
                isOdd = true
                index += 1
            } else if bytes[index] >= 0x80 {
                isOdd = true
            }
            index += 1
        }
        return (min(index, bytes.count), isOdd)
    }

    private mutating func take(_ text: Range<Int>, isOdd: Bool) {
        guard let last = frames.indices.last, frames[last].awaitsKey else { return }
        frames[last].awaitsKey = false
        frames[last].keys.append(text)
        if isOdd { frames[last].hasOddKey = true }
    }

    // MARK: Comparing

    private func repeated(in frame: Frame) -> String? {
        if frame.hasOddKey {
            var seen: Set<String> = []
            return frame.keys.lazy.map(text).first { !seen.insert($0).inserted }
        }
        guard frame.keys.count > Self.fewKeys else { return repeatedOfFew(frame.keys) }
        var seen: Set<Data> = []
        return frame.keys.first { !seen.insert(Data(bytes[$0])).inserted }.map(text)
    }

    private func repeatedOfFew(_ keys: [Range<Int>]) -> String? {
        for (place, key) in keys.enumerated() {
            for other in keys[..<place]
            where other.count == key.count && bytes[other].elementsEqual(bytes[key]) {
                return text(key)
            }
        }
        return nil
    }

    private func text(_ range: Range<Int>) -> String {
        let plain = String(decoding: bytes[range], as: UTF8.self)
        guard bytes[range].contains(UInt8(ascii: "\\")) else { return plain }
        let list = Data("[\"".utf8) + Data(bytes[range]) + Data("\"]".utf8)
        return (try? JSONDecoder().decode([String].self, from: list))?.first ?? plain
    }
}
