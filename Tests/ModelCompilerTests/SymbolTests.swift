import Foundation
import Testing

@testable import ModelCompiler

/// Symbols are compared with those the compiler itself leaves undefined.
@Suite(.enabled(if: Workbench.hasTools, "swiftc or nm is not in PATH"))
struct SymbolTests {
    private func compare(_ text: String, module: String = "App") throws {
        let bench = try Workbench()
        try bench.write(text, to: "Model.swift")
        let wanted = try bench.undefinedSymbols(["Model.swift"], module: module)
        let made = try accessors(["Model.swift": text], module: module).symbols
        let missing = wanted.subtracting(made).sorted()
        let wrong = Set(made).subtracting(wanted).sorted()
        #expect(!wanted.isEmpty)
        #expect(missing.isEmpty && wrong.isEmpty, "missing \(missing)\nwrong \(wrong)")
        #expect(Set(made).count == made.count)
    }

    @Test func everyTypeOfTheLibraries() throws {
        let types = [
            "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
            "Bool", "Double", "Float", "String", "Substring", "Character", "Any", "AnyObject",
            "Date", "Data", "UUID", "URL", "Decimal", "Locale", "TimeZone", "Calendar",
            "DateComponents", "DateInterval", "IndexPath", "AttributedString", "CGFloat",
            "NSObject", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet", "NSArray",
            "NSMutableArray", "NSDictionary", "NSMutableDictionary", "NSNumber",
            "NSDecimalNumber", "NSString", "NSMutableString", "NSDate", "NSData",
            "NSMutableData", "NSURL", "NSUUID", "NSIndexSet", "NSAttributedString",
            "NSMutableAttributedString", "NSValue", "NSNull", "NSIndexPath", "NSLocale",
            "NSTimeZone", "IndexSet", "CharacterSet", "CGPoint", "CGSize", "CGRect",
            "URLComponents", "TimeInterval", "NSManagedObject", "NSManagedObjectID",
        ]
        let plain = types.enumerated().map { "    @NSManaged public var p\($0): \($1)" }
        let optional = types.enumerated().map { "    @NSManaged public var o\($0): \($1)?" }
        let arrays = types.enumerated().map { "    @NSManaged public var a\($0): [\($1)]" }
        try compare(
            """
            import Foundation
            import Persistence
            public class Thing: NSManagedObject {
            \((plain + optional + arrays).joined(separator: "\n"))
                @NSManaged public var protocols: (any NSCoding)?
                @NSManaged public var old: NSCopying?
            }
            """)
    }

    @Test func everySpellingOfATypeOfTheTarget() throws {
        try compare(
            """
            import Foundation
            import Persistence
            public protocol Shape {}
            public enum Status: Int16 { case open, closed }
            public struct Point { public enum Axis { case x, y } }
            public class Tag: NSManagedObject {}
            open class Book: NSManagedObject {
                public class Page: NSManagedObject {
                    public enum Size { case small }
                    @NSManaged public var size: Size
                    @NSManaged public var next: Page?
                    @NSManaged public var book: Book
                    @NSManaged public var outer: Book.Page.Size?
                }
                @NSManaged public var title: String?, subtitle: String!
                @NSManaged public var a, b: Int32
                @NSManaged public var tags: Set<Tag>
                @NSManaged public var moreTags: Set<Tag>?
                @NSManaged public var pages: [Page]
                @NSManaged public var byName: [String: Page]
                @NSManaged public var nested: [String: [Book.Page]]?
                @NSManaged public var sets: [Set<Tag>: Set<Tag>]
                @NSManaged public var status: Status
                @NSManaged public var maybe: App.Status?
                @NSManaged public var axis: Point.Axis
                @NSManaged public var point: Point?
                @NSManaged public var shape: any Shape
                @NSManaged public var shapes: [(any Shape)]?
                @NSManaged public var twice: Int??
                @NSManaged public var long: Optional<Array<Dictionary<String, Set<Tag>>>>
                @NSManaged public var book: Book?
                @NSManaged public var `class`: Swift.String?
                @NSManaged public var date: Foundation.Date?
                @NSManaged public var parenthesized: (Tag)?
            }
            extension Book.Page {
                @NSManaged public var later: Size
            }
            final class Novel: Book {
                @NSManaged var first: Page?
            }
            """)
    }

    @Test func abbreviationsOfWordsAndOfNames() throws {
        try compare(
            """
            import Foundation
            import Persistence
            public class TagTag: NSManagedObject {}
            public class Tag_Book: NSManagedObject {
                @NSManaged public var startDate: Date?
                @NSManaged public var Date_: Date?
                @NSManaged public var tagBookTag: Tag_Book?
                @NSManaged public var bookTag_Book_TagTag: TagTag?
                @NSManaged public var URLSession2Foundation: URL
                @NSManaged public var Foundation: NSSet?
                @NSManaged public var _private_Tag: [Tag_Book: Tag_Book]
                @NSManaged public var x1Tag2Book: [Int: [Int: Int]]
                @NSManaged public var manyOne: [TagTag: [Tag_Book: [TagTag: Tag_Book]]]
                @NSManaged public var App: [[Int16]: [Int16: [Int16]]]
                @NSManaged public var aBcD: [Tag_Book]
                @NSManaged public var
                    aaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpQqRrSsTtUuVvWwXxYyZzTagDate:
                    [Date: Tag_Book]
            }
            """)
    }

    @Test func accessorsOfToManyRelationships() throws {
        let functions = [
            "addToPages(_ value: Page)", "removeFromPages(_ value: Page)",
            "addToPages(_ values: NSSet)", "removeFromPages(_ values: NSSet)",
            "addToOrder(_ values: NSOrderedSet)", "removeFromOrder(_ values: NSOrderedSet)",
            "insertIntoPages(_ value: Page, at idx: Int)", "removeFromPages(at idx: Int)",
            "insertIntoPages(_ values: [Page], at indexes: NSIndexSet)",
            "removeFromPages(at indexes: NSIndexSet)",
            "replacePages(at idx: Int, with value: Page)",
            "replacePages(at indexes: NSIndexSet, with values: [Page])",
            "addToBooks(_ value: Book)", "addToBooks(_ values: Set<Book>)",
            "addPagesObject(_ value: Page)", "removePages(_ values: Set<Page>)",
        ]
        let calls = [
            "b.addToPages(p)", "b.removeFromPages(p)", "b.addToPages(NSSet())",
            "b.removeFromPages(NSSet())", "b.addToOrder(NSOrderedSet())",
            "b.removeFromOrder(NSOrderedSet())", "b.insertIntoPages(p, at: 1)",
            "b.removeFromPages(at: 1)", "b.insertIntoPages([p], at: NSIndexSet())",
            "b.removeFromPages(at: NSIndexSet())", "b.replacePages(at: 1, with: p)",
            "b.replacePages(at: NSIndexSet(), with: [p])", "b.addToBooks(b)",
            "b.addToBooks(Set<Book>())", "b.addPagesObject(p)", "b.removePages([])",
        ]
        try compare(
            """
            import Foundation
            import Persistence
            public class Page: NSManagedObject {}
            public class Book: NSManagedObject {
                @NSManaged public var pages: NSSet?
                @NSManaged public var order: NSOrderedSet?
                @NSManaged public var books: Set<Book>
            \(functions.map { "    @NSManaged public func \($0)" }.joined(separator: "\n"))
            }
            func use(_ b: Book, _ p: Page) {
                \(calls.joined(separator: "\n    "))
            }
            """)
    }

    @Test func aClassMayHaveItsModulesName() throws {
        try compare(
            """
            import Foundation
            import Persistence
            public class Tasks: NSManagedObject {
                @NSManaged public var title: String?
                func use() { title = title }
            }
            """, module: "Tasks")
    }

    @Test func privateMembersNameTheirFile() throws {
        try compare(
            """
            import Foundation
            import Persistence
            public class Note: NSManagedObject {
                @NSManaged public var date: Date?
                @NSManaged private var primitiveDate: Date?
                @NSManaged fileprivate var count: Int16
                @NSManaged internal private(set) var size: Int64
                func touch() {
                    primitiveDate = primitiveDate
                    count += 1
                    size += 1
                }
            }
            private extension Note {
                @NSManaged var hidden: Note?
                func use() { hidden = hidden }
            }
            """, module: "Notebook")
    }

    @Test func digestsAreThoseOfTheStandard() {
        func text(_ message: String) -> String {
            FileDiscriminator.digest(Array(message.utf8)).map {
                let text = String($0, radix: 16)
                return text.count == 1 ? "0" + text : text
            }.joined()
        }
        #expect(text("") == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(text("message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        let long = String(repeating: "1234567890", count: 8)
        #expect(text(long) == "57edf4a22be3c955ac49da2e2107b67a")
    }
}
