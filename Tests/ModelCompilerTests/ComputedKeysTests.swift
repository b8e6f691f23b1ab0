import Testing

@testable import ModelCompiler

/// What classes compute themselves is told by key.
@Suite struct ComputedKeysTests {
    /// The keys that the generated file answers, as they stand in it.
    private func keys(_ source: String) throws -> [String] {
        try accessors(["A.swift": "import CoreData\n" + source]).text.split(separator: "\n")
            .map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("case ") }
            .map { String($0.drop { $0 != "\"" }.dropFirst().prefix { $0 != "\"" }) }
    }

    @Test func propertiesThatAnybodyMayReadAreAnswered() throws {
        let found = try keys(
            """
            class Person: NSManagedObject {
                @NSManaged var name: String?
                var full: String { "" }
                var kept: [Int] = [] { didSet {} }
                lazy var late: Date = Date()
                private(set) var half: Double = 0
                var `class`: String { get { "" } set {} }
                let fixed: UUID = UUID()
            }
            extension Person { var friends: Set<Person> { [] }; var boss: Person? { nil } }
            """)
        #expect(found == ["boss", "class", "fixed", "friends", "full", "half", "kept", "late"])
    }

    @Test(arguments: [
        "private var x: Int { 1 }", "fileprivate var x: Int { 1 }", "static var x: Int { 1 }",
        "class var x: Int { 1 }", "override var x: String { \"\" }", "var x = 3",
        "var x: Int { get throws { 1 } }", "var x: Int { get async { 1 } }",
        "@available(*, unavailable) var x: Int { 1 }", "@available(*, deprecated) var x: Int { 1 }",
        "@MainActor var x: Int { 1 }", "@nonobjc var x: Int { 1 }", "var x: some View { 1 }",
        "var x: Mood { .calm }", "var x: (Int, Int) { (1, 2) }", "func x() -> Int { 1 }",
        "func y() { var x: Int = 1 }",
    ])
    func othersAreNot(declaration: String) throws {
        let found = try keys(
            """
            enum Mood: Int { case calm }
            class Person: NSManagedObject { @NSManaged var name: String?; \(declaration) }
            """)
        #expect(found.isEmpty)
    }

    @Test(arguments: [
        "class Person { var x: Int { 1 } }", "struct Person { var x: Int { 1 } }",
        "@MainActor class Person: NSManagedObject { var x: Int { 1 } }",
        "class Person: NSManagedObject {}\n@MainActor extension Person { var x: Int { 1 } }",
        "private class Person: NSManagedObject { var x: Int { 1 } }",
        "package class Person: NSManagedObject { var x: Int { 1 } }",
        "class A: NSManagedObject {}\n@available(*, unavailable) extension A { var x: Int { 1 } }",
        "class Person: Strange { var x: Int { 1 } }", "var x: Int { 1 }",
    ])
    func otherTypesAreNot(source: String) throws {
        #expect(try keys(source).isEmpty)
    }

    /// A second conformance below another would not compile.
    @Test func oneClassOfAHierarchyAnswersForAll() throws {
        let text = try accessors([
            "A.swift": """
            public import CoreData
            public class Base: NSManagedObject {}
            class Middle: Base { var x: Int { 1 } }
            class Leaf: Middle { var y: Int { 1 } }
            """
        ]).text
        #expect(text.contains("public import CoreData\n"))
        #expect(
            text.hasSuffix(
                """

                extension Base: ComputedKeys {
                    public func _computedValue(forKey key: String) -> ComputedValue? {
                        if let object = self as? Leaf {
                            switch key {
                            case "y": return .init(object.`y`)
                            default: break
                            }
                        }
                        if let object = self as? Middle {
                            switch key {
                            case "x": return .init(object.`x`)
                            default: break
                            }
                        }
                        return nil
                    }
                }

                """))
    }
}
