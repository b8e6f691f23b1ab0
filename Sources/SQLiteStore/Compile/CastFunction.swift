internal import Foundation
internal import Predicates
internal import SQLiteDriver
internal import Stores

/// The SQL function behind CAST: a value, the kind it is of, and the type it is to become. Missing
/// where the value cannot become one; evaluation in memory refuses there.
enum CastFunction {
    static let name = "diptych_cast"

    static func register(with connection: Connection) throws {
        try connection.register(function: name, arguments: 3) { arguments in
            guard let type = arguments[2].string, let made = kind(ofType: type),
                let value = plain(arguments[0], kind: arguments[1].int64 ?? 0)
            else { return .null }
            return PredicateCompiler.encode(Cast.plain(value, as: type), as: made) ?? .null
        }
    }

    /// The kind that values of a type of CAST are; nil for no such type.
    static func kind(ofType type: String) -> ValueKind? {
        switch type {
        case "NSNumber", "NSDecimalNumber": .number
        case "NSString": .text
        case "NSDate": .date
        case "NSUUID": .uuid
        case "NSURL": .uri
        case "NSData": .data(isMarked: false)
        default: nil
        }
    }

    /// How SQL names a kind to the function.
    static func number(of kind: ValueKind) -> Int64 {
        switch kind {
        case .number: 0
        case .text: 1
        case .date: 2
        case .uuid: 3
        case .uri: 4
        case .data: 5
        case .entity: 6
        }
    }

    private static func plain(_ value: SQLiteValue, kind: Int64) -> Any? {
        switch kind {
        case 2: value.double.map { Date(timeIntervalSinceReferenceDate: $0) }
        case 3: value.data.flatMap(uuid)
        case 4: value.string.flatMap { URL(string: $0) }
        default: value.int64.map { Int($0) } ?? value.double ?? value.string ?? value.data as Any?
        }
    }

    private static func uuid(_ data: Data) -> UUID? {
        guard data.count == MemoryLayout<uuid_t>.size else { return nil }
        return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
