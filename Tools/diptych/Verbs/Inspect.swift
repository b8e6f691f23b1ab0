struct Inspect: Verb {
    static let manual = Manual(name: "inspect", summary: "x")
    init(_ arguments: Arguments) throws {}
    func run(_ console: Console) async throws -> ExitStatus { .done }
}
