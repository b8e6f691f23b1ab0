internal import Platform

/// What programs registered as selectors of their own.
enum CustomSelectors {
    typealias Function = @Sendable (_ receiver: Any?, _ arguments: [Any?]) throws -> Any?

    private static let registered = Lock<[String: Function]>([:])

    static func register(_ name: String, _ function: @escaping Function) {
        registered.withLock { $0[name] = function }
    }

    static func function(named name: String) -> Function? { registered.withLock { $0[name] } }
}

extension NSExpression {
    /// Gives comparisons and FUNCTION expressions a selector, which off Apple's platforms no
    /// object has: `a isNewerThan: b` calls `isNewerThan:` with `a` and `[b]` and holds where it
    /// answers true, `FUNCTION(a, 'cut:to:', b, c)` calls `cut:to:` with `a` and `[b, c]`.
    ///
    /// They are evaluated in memory only, as Apple's are: a fetch from an SQLite store throws
    /// 134091. What the function throws makes the predicate one that cannot be evaluated. A later
    /// registration of the name takes the place of the former; objects that are
    /// `FunctionReceiving` answer before it. From any thread; the function is called where the
    /// predicate is evaluated.
    public static func register(
        selector name: String,
        _ function: @escaping @Sendable (_ receiver: Any?, _ arguments: [Any?]) throws -> Any?
    ) {
        CustomSelectors.register(name, function)
    }
}
