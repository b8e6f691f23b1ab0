struct Status: Verb {
    static let manual = Manual(name: "status", summary: "x")
    init(_ arguments: Arguments) throws {}
    func run(_ console: Console) async throws -> ExitStatus { .done }
}
struct Conflicts: Verb {
    static let manual = Manual(name: "conflicts", summary: "x")
    init(_ arguments: Arguments) throws {}
    func run(_ console: Console) async throws -> ExitStatus { .done }
}
struct Events: Verb {
    static let manual = Manual(name: "events", summary: "x")
    init(_ arguments: Arguments) throws {}
    func run(_ console: Console) async throws -> ExitStatus { .done }
}
struct Inspect: Verb {
    static let manual = Manual(name: "inspect", summary: "x")
    init(_ arguments: Arguments) throws {}
    func run(_ console: Console) async throws -> ExitStatus { .done }
}
