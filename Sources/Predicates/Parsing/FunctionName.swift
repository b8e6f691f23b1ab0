/// The functions that a format may call, by Apple's selector names.
public enum FunctionName {
    /// `a + b`.
    public static let add = "add:to:"
    /// `a - b`.
    public static let subtract = "from:subtract:"
    /// `a * b`.
    public static let multiply = "multiply:by:"
    /// `a / b`: of two integers an integer, rounded towards zero; nil where `b` is 0.
    public static let divide = "divide:by:"
    /// `a ** b`.
    public static let power = "raise:toPower:"
    /// `a & b`.
    public static let bitwiseAnd = "bitwiseAnd:with:"
    /// `a | b`.
    public static let bitwiseOr = "bitwiseOr:with:"
    /// `a ^ b`.
    public static let bitwiseXor = "bitwiseXor:with:"
    /// `a << b`.
    public static let leftShift = "leftshift:by:"
    /// `a >> b`.
    public static let rightShift = "rightshift:by:"
    /// `~a`.
    public static let onesComplement = "onesComplement:"
    /// `x[i]`; the index is a number, a key, or one of the three symbols below.
    public static let index = "objectFrom:withIndex:"
    /// `x[FIRST]`.
    public static let firstSymbol = "FIRST"
    /// `x[LAST]`.
    public static let lastSymbol = "LAST"
    /// `x[SIZE]`.
    public static let sizeSymbol = "SIZE"
    /// `CAST(x, 'NSDate')`.
    public static let cast = "castObject:toType:"
    /// `FUNCTION(receiver, 'selector:', arguments…)`: the arguments are receiver, selector, the
    /// rest.
    public static let perform = "FUNCTION"
    /// `FETCH(request, context, countOnly)`.
    public static let fetch = "FETCH"
    /// `$v := expression`: the arguments are the name as a text, and the expression.
    public static let assign = "assignVariable:value:"
    /// `ANYKEY`, which only search indexes of Apple's understand: evaluating it throws.
    public static let anyKey = "ANYKEY"
    /// A Swift block: the first argument is the block, the rest are its arguments.
    public static let block = "BLOCK"

    /// The predefined functions with the number of arguments they take; nil is one or more.
    static let predefined: [String: Int?] = [
        "sum:": nil, "count:": nil, "min:": nil, "max:": nil, "average:": nil, "median:": nil,
        "mode:": nil, "stddev:": nil, add: 2, subtract: 2, multiply: 2, divide: 2,
        "modulus:by:": 2, "sqrt:": 1, "log:": 1, "ln:": 1, power: 2, "exp:": 1, "floor:": 1,
        "ceiling:": 1, "abs:": 1, "trunc:": 1, "uppercase:": 1, "lowercase:": 1, "canonical:": 1,
        "random": 0, "random:": 1, "randomn:": 1, "now": 0, bitwiseAnd: 2, bitwiseOr: 2,
        bitwiseXor: 2, leftShift: 2, rightShift: 2, onesComplement: 1, "noindex:": 1,
        "distanceToLocation:fromLocation:": 2, "length:": 1,
        index: 2, cast: 2,
    ]

    /// Whether `name` is a predefined function that takes `count` arguments.
    static func accepts(_ name: String, count: Int) -> Bool {
        guard let wanted = predefined[name] else { return false }
        return wanted.map { $0 == count } ?? (count > 0)
    }

    /// Finds the selector for a name as people write it: with its colons, or only its first word.
    static func selector(for name: String, count: Int) -> String? {
        if accepts(name, count: count) { return name }
        let short = name.hasSuffix(":") ? String(name.dropLast()) : name
        guard !short.contains(":") else { return nil }
        let candidates = predefined.keys.filter { key in
            key.split(separator: ":").first.map(String.init) == short && accepts(key, count: count)
        }
        return candidates.min { $0.utf8.count < $1.utf8.count }
    }
}
