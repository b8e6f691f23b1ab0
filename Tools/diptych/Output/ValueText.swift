internal import Foundation
internal import ObjectModel
internal import Stores

/// An attribute's value, for people and for programs.
enum ValueText {
    /// Stands where there is no value.
    static let nothing = "–"

    static func json(_ value: AttributeValue, _ type: NSAttributeType) -> JSON {
        switch value {
        case .null: .null
        case .integer(let number):
            switch type {
            case .booleanAttributeType: .bool(number != 0)
            case .integer64AttributeType: .string(String(number))
            default: .integer(number)
            }
        case .double(let number): .double(number)
        case .decimal(let number): .string(number.description)
        case .text(let text), .uri(let text): .string(text)
        case .date(let seconds): JSON(Date(timeIntervalSinceReferenceDate: seconds))
        case .uuid(let uuid): .string(uuid.uuidString)
        case .data(let data): .string(data.base64EncodedString())
        }
    }

    /// A few words.
    static func short(_ value: AttributeValue, _ type: NSAttributeType) -> String {
        let text =
            switch value {
            case .null: nothing
            case .data(let data): Figure.bytes(Int64(data.count))
            case .date(let seconds):
                Timestamp.short(Date(timeIntervalSinceReferenceDate: seconds))
            case .integer(let number) where type == .booleanAttributeType:
                number == 0 ? "no" : "yes"
            case .integer(let number): String(number)
            case .double(let number): "\(number)"
            case .decimal(let number): number.description
            case .text(let text), .uri(let text):
                PlainText.line(text)
            case .uuid(let uuid): uuid.uuidString
            }
        return PlainText.cut(text, to: 36)
    }
}
