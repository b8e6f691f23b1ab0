internal import Foundation
internal import RecordWire

/// A record's field, for people and for programs.
enum FieldText {
    /// A few words, at most `columns` wide where that is given; `names` names what a reference
    /// leads to.
    static func short(
        _ value: FieldValue?, columns: Int? = nil, names: (String) -> String = { $0 }
    ) -> String {
        guard let value else { return "–" }
        let text =
            switch value {
            case .string(let text): "\"\(PlainText.line(text))\""
            case .int64(let number): String(number)
            case .double(let number): "\(number)"
            case .timestamp(let milliseconds): Timestamp.text(date(milliseconds))
            case .bytes(let data): Figure.bytes(Int64(data.count))
            case .reference(let reference): names(reference.recordName)
            case .location(let place): "\(place.latitude), \(place.longitude)"
            case .asset(let asset): "asset of \(Figure.bytes(asset.size ?? 0))"
            case .list(_, let values): Figure.count(values.count, "value")
            case .encrypted: "encrypted"
            }
        return columns.map { PlainText.cut(text, to: $0) } ?? text
    }

    static func json(_ value: FieldValue?) -> JSON {
        guard let value else { return .null }
        switch value {
        case .string(let text): return .string(text)
        // Beyond 53 bits a program that reads doubles would lose digits.
        case .int64(let number):
            return number.magnitude < 1 << 53 ? .integer(number) : .string(String(number))
        case .double(let number): return .double(number)
        case .timestamp(let milliseconds): return JSON(date(milliseconds))
        case .bytes(let data): return .string(data.base64EncodedString())
        case .reference(let reference): return .string(reference.recordName)
        case .location(let place):
            return ["latitude": .double(place.latitude), "longitude": .double(place.longitude)]
        case .asset(let asset): return JSON(asset.downloadURL)
        case .list(_, let values): return .array(values.map { json($0) })
        case .encrypted(let plain): return json(plain)
        }
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
