internal import Foundation

/// What a constant is once bridging, optionals and number widths are taken away.
///
/// Equality is strict: a Boolean is no number, and an integer is no real. Evaluation has its own,
/// wider idea of equality.
enum Constant {
    case null
    case bool(Bool)
    case integer(Int)
    case real(Double)
    case decimal(Decimal)
    case text(String)
    case date(Date)
    case uuid(UUID)
    case url(URL)
    case data(Data)
    case list([Any?])
    case other(Any)

    init(_ value: Any?) {
        guard let value else {
            self = .null
            return
        }
        if let common = Constant.common(value) {
            self = common
            return
        }
        guard let value = Constant.unwrapped(value) else {
            self = .null
            return
        }
        self =
            Constant.common(value) ?? Constant.swiftScalar(value) ?? Constant.bridged(value)
            ?? Constant.collection(value)
    }

    /// The value as evaluation and stores like it: `Bool`, `Int`, `Double`, `Decimal`, `String`,
    /// `Date`, `UUID`, `URL`, `Data`, an array of such, the object itself, or nil.
    var plain: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let value): value
        case .real(let value): value
        case .decimal(let value): value
        case .text(let value): value
        case .date(let value): value
        case .uuid(let value): value
        case .url(let value): value
        case .data(let value): value
        case .list(let values): values.map { Constant($0).plain ?? NSNull() }
        case .other(let value): value
        }
    }

    /// The kinds that most values are of, told apart without the cost of dynamic casts.
    private static func common(_ value: Any) -> Constant? {
        let kind = type(of: value)
        if kind == String.self { return (value as? String).map(Constant.text) }
        if kind == Int.self { return (value as? Int).map(Constant.integer) }
        if kind == Bool.self { return (value as? Bool).map(Constant.bool) }
        if kind == Double.self { return (value as? Double).map(Constant.real) }
        if kind == Date.self { return (value as? Date).map(Constant.date) }
        return nil
    }

    /// Takes away optionals, `AnyHashable` and `NSNull`.
    private static func unwrapped(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if value is NSNull { return nil }
        if let optional = value as? any OptionalReading { return unwrapped(optional.content) }
        if type(of: value) == AnyHashable.self, let hashable = value as? AnyHashable {
            return unwrapped(hashable.base)
        }
        return value
    }

    private static func swiftScalar(_ value: Any) -> Constant? {
        let kind = type(of: value)
        if kind is AnyClass { return nil }
        if let integer = value as? any FixedWidthInteger {
            return Int(exactly: integer).map(Constant.integer)
                ?? .decimal(Decimal(string: String(describing: integer)) ?? 0)
        }
        switch value {
        case let value as any BinaryFloatingPoint: return .real(Double(value))
        case let value as Substring: return .text(String(value))
        case let value as Decimal: return .decimal(value)
        case let value as UUID: return .uuid(value)
        case let value as URL: return .url(value)
        case let value as Data: return .data(value)
        default: return nil
        }
    }

    private static func bridged(_ value: Any) -> Constant? {
        guard type(of: value) is AnyClass else { return nil }
        switch value {
        case let value as NSDecimalNumber: return .decimal(value.decimalValue)
        case let value as NSNumber: return number(value)
        case let value as NSString: return .text(String(describing: value))
        case let value as NSDate: return .date(value as Date)
        case let value as NSUUID: return .uuid(value as UUID)
        case let value as NSURL: return .url(value as URL)
        case let value as NSData: return .data(value as Data)
        default: return nil
        }
    }

    private static func number(_ value: NSNumber) -> Constant {
        if type(of: value) != NSNumber.self || value === NSNumber(value: true)
            || value === NSNumber(value: false)
        {
            return .bool(value.boolValue)
        }
        switch String(cString: value.objCType) {
        case "f", "d": return .real(value.doubleValue)
        case "B": return .bool(value.boolValue)
        case "Q":
            return Int(exactly: value.uint64Value).map(Constant.integer)
                ?? .decimal(Decimal(value.uint64Value))
        default: return .integer(value.intValue)
        }
    }

    private static func collection(_ value: Any) -> Constant {
        if let elements = listElements(of: value) { return .list(elements) }
        return .other(value)
    }
}

/// Lets an `Any` that holds an optional be looked into.
private protocol OptionalReading {
    var content: Any? { get }
}

extension Optional: OptionalReading {
    fileprivate var content: Any? { self }
}

/// Returns the elements of a Swift or Foundation array, set or ordered set, and nil for anything
/// else. The order of a set is not defined.
package func listElements(of value: Any?) -> [Any?]? {
    guard let value else { return nil }
    if type(of: value) is AnyClass {
        return switch value {
        case let value as NSArray: value.map { $0 }
        case let value as NSSet: value.allObjects
        case let value as NSOrderedSet: value.array
        default: nil
        }
    }
    return switch value {
    case let value as [Any]: value
    case let value as [Any?]: value
    case let value as Set<AnyHashable>: value.map(\.base)
    default: nil
    }
}

/// Returns a constant without bridging: numbers are `Bool`, `Int`, `Double` or `Decimal`, text is
/// `String`, lists are arrays (with `NSNull` for a missing element), nil is nil.
package func plainConstant(_ value: Any?) -> Any? { Constant(value).plain }
