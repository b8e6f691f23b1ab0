internal import Foundation

/// `CAST(value, 'type')`: what becomes what.
package enum Cast {
    /// Returns the cast of a constant to a type that has no literal as a constant, so that dates,
    /// identifiers and decimals can be written and read back; any other cast as a function.
    static func folded(_ expression: ExpressionNode, to type: String) -> ExpressionNode {
        let call = ExpressionNode.function(FunctionName.cast, [expression, .constant(type)])
        guard case .constant(let value) = expression, let value else { return call }
        let isInfinity = type == "NSNumber" && ["inf", "-inf"].contains(value as? String)
        let types = ["NSDate", "NSDecimalNumber", "NSUUID", "NSURL", "NSData"]
        guard types.contains(type) || isInfinity, let made = cast(Constant(value), to: type)
        else { return call }
        return .constant(made)
    }

    /// Returns the value as the named type as `plainConstant` gives values; nil when it cannot be
    /// one. See `cast(_:to:)`.
    package static func plain(_ value: Any?, as type: String) -> Any? {
        cast(Constant(value), to: type)
    }

    /// Returns the value as the named type, or nil when it cannot be one. Dates are seconds since
    /// 2001, data is base 64.
    static func cast(_ value: Constant, to type: String) -> Any? {
        switch type {
        case "NSNumber": number(value)
        case "NSDecimalNumber": decimal(value)
        case "NSString": text(value)
        case "NSDate": date(value)
        case "NSUUID": uuid(value)
        case "NSURL": url(value)
        case "NSData": data(value)
        default: nil
        }
    }

    /// The types that CAST knows.
    package static let types = [
        "NSNumber", "NSDecimalNumber", "NSString", "NSDate", "NSUUID", "NSURL", "NSData",
    ]

    private static func number(_ value: Constant) -> Any? {
        switch value {
        case .bool(let flag): flag
        case .integer(let number): number
        case .real(let number): number
        case .decimal(let number): number
        case .date(let date): date.timeIntervalSinceReferenceDate
        case .text(let text): Int(text) ?? Double(text) as Any?
        default: nil
        }
    }

    private static func decimal(_ value: Constant) -> Decimal? {
        switch value {
        case .bool(let flag): flag ? 1 : 0
        case .integer(let number): Decimal(number)
        case .real(let number): number.isFinite ? Decimal(string: "\(number)") : nil
        case .date(let date): decimal(.real(date.timeIntervalSinceReferenceDate))
        case .decimal(let number): number
        case .text(let text): Decimal(string: text)
        default: nil
        }
    }

    private static func date(_ value: Constant) -> Date? {
        switch value {
        case .date(let date): date
        case .integer(let seconds): Date(timeIntervalSinceReferenceDate: Double(seconds))
        case .real(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .decimal(let seconds):
            Date(timeIntervalSinceReferenceDate: seconds.nearestReal)
        default: nil
        }
    }

    private static func text(_ value: Constant) -> String? {
        switch value {
        case .text(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .real(let number):
            number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
        case .decimal(let number): "\(number)"
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        default: nil
        }
    }

    private static func uuid(_ value: Constant) -> UUID? {
        switch value {
        case .uuid(let uuid): uuid
        case .text(let text): UUID(uuidString: text)
        default: nil
        }
    }

    private static func url(_ value: Constant) -> URL? {
        switch value {
        case .url(let url): url
        case .text(let text): URL(string: text)
        default: nil
        }
    }

    private static func data(_ value: Constant) -> Data? {
        switch value {
        case .data(let data): data
        case .text(let text): Data(base64Encoded: text)
        default: nil
        }
    }
}
