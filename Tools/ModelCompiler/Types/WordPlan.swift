/// How an identifier is written when some of its words were written before.
struct WordPlan {
    /// The identifier as it stands in the symbol.
    private(set) var text = ""
    /// The words that later identifiers may refer to.
    private(set) var newWords: [[UInt8]] = []

    private static let wordsMax = 26

    /// Plans `name` after `known` words.
    init(_ name: [UInt8], known: [[UInt8]]) {
        var replaced: [(range: Range<Int>, word: Int)] = []
        for range in Self.wordRanges(in: name) {
            let word = Array(name[range])
            if let index = (known + newWords).firstIndex(of: word) {
                replaced.append((range, index))
            } else if word.count >= 2, known.count + newWords.count < Self.wordsMax {
                newWords.append(word)
            }
        }
        write(name, replaced)
    }

    private mutating func write(_ name: [UInt8], _ replaced: [(range: Range<Int>, word: Int)]) {
        if !replaced.isEmpty { text += "0" }
        var position = 0
        for (index, (range, word)) in replaced.enumerated() {
            writePlain(name[position..<range.lowerBound])
            position = range.upperBound
            let isLast = index == replaced.count - 1
            let first = UInt8(ascii: isLast ? "A" : "a")
            text.unicodeScalars.append(Unicode.Scalar(first + UInt8(word)))
            if isLast, position == name.count { text += "0" }
        }
        writePlain(name[position...])
    }

    private mutating func writePlain(_ part: ArraySlice<UInt8>) {
        guard !part.isEmpty else { return }
        text += "\(part.count)" + String(decoding: part, as: UTF8.self)
    }

    /// Words begin at letters, and end before a capital that follows none, or before `_`.
    private static func wordRanges(in name: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start: Int?
        for position in 0...name.count {
            let byte = position < name.count ? name[position] : 0
            if let first = start, isEnd(byte, after: name[position - 1]) {
                ranges.append(first..<position)
                start = nil
            }
            if start == nil, byte != 0, byte != UInt8(ascii: "_"), !isDigit(byte) {
                start = position
            }
        }
        return ranges
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isCapital(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isEnd(_ byte: UInt8, after former: UInt8) -> Bool {
        byte == 0 || byte == UInt8(ascii: "_") || isCapital(byte) && !isCapital(former)
    }
}
