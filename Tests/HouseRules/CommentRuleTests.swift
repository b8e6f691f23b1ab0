import Testing

/// The rules of comments ring for what a public declaration leaves out, and are silent where it,
/// its type or its base says it.
@Suite struct CommentRuleTests {
    @Test(arguments: silent)
    func whatIsSaidIsEnough(text: String) {
        for rule in Rule.comments {
            #expect(found(rule, text) == [], "\(rule.text)\n\(text)")
        }
    }

    @Test(arguments: [
        ("public struct A {\n}", "struct A"), ("/// A.\npublic struct A {\n}", "struct A"),
        ("/// The a.\npublic let a = 1", "let a"), ("// Nothing.\npublic let a = 1", "let a"),
        ("/// It.\npublic enum A {\n    case b\n}", "case A.b"),
        ("/// It.\npublic protocol P {\n    func f()\n}", "func P.f()"),
        (
            "/// It.\npublic extension P {\n    func f(\n        _ x: Int\n    ) {}\n}",
            "func P.f(_:)"
        ),
        ("/// It.\n\npublic func f(a b: Int, c: [Int: Int] = [:]) {}", "func f(a:c:)"),
        ("extension A {\n    @MainActor open class func f() {}\n}", "func A.f()"),
        ("/// It.\npublic struct A {\n    public init?(b: Int) {}\n}", "init A.init(b:)"),
    ])
    func whatHasNoCommentIsFound(text: String, what: String) {
        #expect(found(.documented, text) == [what])
    }

    @Test(arguments: [
        "/// It does.\npublic func f() throws {}", "/// Throws.\npublic func f() throws {}",
        "/// Throws when it cannot.\npublic func f() throws {}",
        "/// It does. `x` is 12.\npublic func f() async throws -> Int {}",
        "/// It does.\npublic func f(\n    _ x: Int\n) throws(E) -> Int {\n}",
        "/// It does.\npublic var f: Int {\n    get throws { 1 }\n}",
        "/// It does.\npublic protocol P {\n    /// It does.\n    func f() throws\n}",
    ])
    func whatThrowsWithoutNamesIsFound(text: String) {
        #expect(found(.namedErrors, text).count == 1)
    }

    @Test func whatThrowsItselfIsToldFromWhatItIsGiven() {
        let text = "/// It does.\npublic func f(_ body: () throws -> Void) rethrows {}"
        #expect(found(.namedErrors, text) == [])
    }

    @Test func classesSayTheirQueueWhereStoresAreTouched() {
        let text = "/// It is.\npublic final class A {\n}"
        #expect(found(.namedQueue, text) == ["class A"])
        #expect(found(.namedQueue, text, in: "ObjectModel") == [])
        #expect(found(.namedQueue, "/// It is. Queue: any.\npublic final class A {\n}") == [])
    }

    @Test func whatThrowsOrWaitsSaysItsCostWhereStoresAreTouched() {
        let member = "/// It is.\npublic struct A {\n    /// Throws `E`.\n"
        #expect(found(.namedCost, member + "    public func f() throws {}\n}") == ["func A.f()"])
        #expect(found(.namedCost, member + "    public func f() async {}\n}") == ["func A.f()"])
        #expect(found(.namedCost, member + "    public func f() {}\n}") == [])
        let costly = "/// It is. Cost: O(1).\npublic struct A {\n"
        #expect(found(.namedCost, costly + "    public func f() throws {}\n}") == [])
    }

    @Test func aTypeSpeaksForItsExtensionsInOtherFiles() {
        let type = SourceFile(
            path: "Sources/Stores/A.swift",
            text: "/// Queue: any. Every function throws `E`. Cost: O(1).\npublic class A {\n}")
        let more = SourceFile(
            path: "Sources/Stores/A+B.swift",
            text: "extension A {\n    /// It does.\n    public func f() throws {}\n}")
        for rule in Rule.comments { #expect(rule.find([type, more]).isEmpty, "\(rule.text)") }
        for rule in [Rule.namedErrors, .namedCost] { #expect(rule.find([more]).count == 1) }
    }

    private func found(_ rule: Rule, _ text: String, in module: String = "Stores") -> [String] {
        rule.find([SourceFile(path: "Sources/\(module)/A.swift", text: text)]).map(\.what)
    }
}

private let silent: [String] = [
    "struct A {\n    public let b = 1\n}", "let a = 1\nfunc f() throws {}",
    "struct A {\n}\nextension A {\n    public func f() {}\n}",
    "/// It is.\npublic struct A {\n    let b = 1\n    func f() {}\n    enum C { case d }\n}",
    "extension A {\n    public override func f() throws {}\n}",
    "extension A: Hashable {\n    public func hash(into hasher: inout Hasher) {}\n}",
    "/// It is.\n@MainActor\n// swift-format-ignore: X\npublic let a = 1",
    "/// It does.\npublic func f() {\n    public struct A {}\n}",
    "/// It does. Throws what `g` throws. Cost: as `g`.\npublic func f() throws {}",
    "/// It does. Throws 134060 for an\n/// unknown entity. Cost: none.\npublic func f() throws {}",
    "/// It is. Queue: any. Every function throws `E`. Cost: O(1).\n"
        + "public protocol P {\n    /// It does.\n    func f(_ x: Int) throws\n}\n"
        + "/// It is.\npublic struct A: Q, P {\n    public func f(_ y: Int) throws {}\n}",
    "let text = \"public struct A {\"",
]
