import Testing

@testable import ModelCompiler

@Suite struct AccessorWriterTests {
    @Test func anAccessorPairIsWrittenForEachProperty() throws {
        let (text, symbols) = try accessors([
            "Book.swift": """
            public import CoreData
            import Foundation
            public class Book: NSManagedObject { @NSManaged public var title: String? }
            """
        ])
        #expect(symbols == ["$s3App4BookC5titleSSSgvg", "$s3App4BookC5titleSSSgvs"])
        #expect(
            text == """
                // Accessors of @NSManaged members, generated from the sources. Do not edit.

                import CoreData
                import Foundation

                extension Book {
                    @_silgen_name("$s3App4BookC5titleSSSgvg")
                    public dynamic final func _managedGet_Book_title() -> String? {
                        managedValue(forKey: "title")
                    }
                    @_silgen_name("$s3App4BookC5titleSSSgvs")
                    public dynamic final func _managedSet_Book_title(_ value: __owned String?) {
                        setManagedValue(value, forKey: "title")
                    }
                }

                """)
    }

    @Test(arguments: [
        ("import Foundation", "public", "Date", "import Foundation"),
        ("public import Foundation", "public", "Date?", "public import Foundation"),
        ("public import Foundation", "public", "String", "import Foundation"),
        ("public import Foundation", "public", "TimeInterval", "public import Foundation"),
        ("public import Foundation", "internal", "Date", "import Foundation"),
        ("internal import Foundation", "internal", "Date", "internal import Foundation"),
    ])
    func importsAreAsWideAsNeeded(
        given: String, access: String, type: String, line: String
    ) throws {
        let (text, _) = try accessors([
            "A.swift": "\(given)\npublic class A: B { @NSManaged \(access) var x: \(type) }"
        ])
        #expect(text.contains("\n\(line)\n"))
    }

    /// The symbol names what an alias stands for; the declaration says it as the source does.
    @Test func typealiasesAreFollowed() throws {
        let (text, symbols) = try accessors([
            "A.swift": """
            typealias Name = String
            class A: NSManagedObject {
                typealias Names = [Name]
                @NSManaged var x: Names?
            }
            """
        ])
        let plain = try accessors(["A.swift": "class A: C { @NSManaged var x: [String]? }"])
        #expect(symbols == plain.symbols)
        #expect(text.contains("-> Names? {"))
    }

    @Test func primitivePropertiesReachThePrimitiveValue() throws {
        let (text, _) = try accessors([
            "A.swift": """
            class A: NSManagedObject {
                @NSManaged var date: Date
                @NSManaged var primitiveDate: Date?
                @NSManaged var primitiveNumbers: Int
            }
            """
        ])
        #expect(text.contains("managedPrimitiveValue(forKey: \"date\")"))
        #expect(text.contains("setManagedPrimitiveValue(value, forKey: \"date\")"))
        #expect(text.contains("managedValue(forKey: \"primitiveNumbers\")"))
    }

    @Test func accessorsFindTheirRelationship() throws {
        let (text, _) = try accessors([
            "A.swift": """
            class A: NSManagedObject {
                @NSManaged var uRLs: NSOrderedSet?
                @NSManaged func addToURLs(_ value: A)
                @NSManaged func insertIntoURLs(_ values: [A], at indexes: NSIndexSet)
                @NSManaged func removeFromURLs(at indexes: NSIndexSet)
            }
            """
        ])
        #expect(text.contains("addObject(a, toRelationshipNamed: \"uRLs\")"))
        #expect(text.contains("insertObjects(a, at: b, inRelationshipNamed: \"uRLs\")"))
        #expect(text.contains("removeObjects(at: a, fromRelationshipNamed: \"uRLs\")"))
    }

    @Test(arguments: [
        ("typealias T = () -> Int\nclass A: B { @NSManaged var x: T }", "unsupportedType", 2),
        ("typealias T<U> = [U]\nclass A: B { @NSManaged var x: T<Int> }", "unsupportedType", 2),
        ("typealias T = U; typealias U = T\nclass A { @NSManaged var x: T }", "unsupportedType", 2),
        ("class A: B {\n\n@NSManaged var x: Color }", "unknownType", 3),
        ("class A: B { @NSManaged var x: (Int, Int) }", "unsupportedType", 1),
        ("class A: B { @NSManaged var x: () -> Void }", "unsupportedType", 1),
        ("class A: B { @NSManaged var x: some P }", "unsupportedType", 1),
        ("class A: B { @NSManaged var x: Set }", "unsupportedType", 1),
        ("class A: B { @NSManaged var x }", "unsupportedMember", 1),
        ("class A: B { @NSManaged let x: Int }", "unsupportedMember", 1),
        ("class A<T>: B { @NSManaged var x: Int }", "unsupportedMember", 1),
        ("struct A { @NSManaged var x: Int }", "unsupportedMember", 1),
        ("private class A: B {\n@NSManaged var x: Int }", "unsupportedMember", 2),
        ("extension Other { @NSManaged var x: Int }", "unsupportedMember", 1),
        ("func f() {\nclass A: B { @NSManaged var x: Int } }", "unsupportedMember", 2),
        ("class A: B {\n#if FLAG\n@NSManaged var x: Int\n#endif\n}", "unsupportedMember", 3),
        ("class A: B { @NSManaged var größe: Int }", "unsupportedMember", 1),
        ("class A: B { @NSManaged func total() -> Int }", "unsupportedMember", 1),
        ("class A: B { @NSManaged func addToTags(_ a: A) }", "unknownProperty", 1),
        ("class G<T> {}\nclass A: B { @NSManaged var x: G<Int> }", "unsupportedType", 2),
    ])
    func whatCannotBeServedIsRefusedWithItsLine(text: String, code: String, line: Int) {
        let error = refusal(text)
        #expect(error?.code.rawValue == code)
        #expect(error?.fields["line"] == "\(line)")
        #expect(error?.description.hasPrefix("Test.swift:\(line): error: ") == true)
    }

    @Test func typesOfAnotherFilesPrivacyAreNotFound() throws {
        let files = [
            "A.swift": "private enum Kind { case a }",
            "B.swift": "class B: NSManagedObject { @NSManaged var kind: Kind }",
        ]
        #expect(throws: CompilerError.self) { try accessors(files) }
    }
}
