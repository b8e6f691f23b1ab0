import Foundation
import Testing

@testable import ObjectModel

@Suite struct ClassGenerationTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func text(of file: String, in model: String) throws -> String {
        let sources = try ClassGeneration(model: scratch.model(model)).sources()
        return try #require(sources.first { $0.fileName == file }).text
    }

    private func failure(_ model: String) throws -> ClassGenerationError? {
        let model = try scratch.model(model)
        return #expect(throws: ClassGenerationError.self) {
            try ClassGeneration(model: model).sources()
        }
    }

    private let shelf = """
        <entity name="Book" representedClassName="Book" syncable="YES" codeGenerationType="class">
            <attribute name="id" attributeType="UUID" usesScalarValueType="NO"/>
            <attribute name="title" optional="YES" attributeType="String"/>
            <relationship name="tags" toMany="YES" destinationEntity="Tag" inverseName="books"
                inverseEntity="Tag"/>
        </entity>
        <entity name="Tag" representedClassName=".Label" codeGenerationType="category">
            <relationship name="books" toMany="YES" ordered="YES" destinationEntity="Book"
                inverseName="tags" inverseEntity="Book"/>
            <relationship name="first" maxCount="1" destinationEntity="Book"/>
        </entity>
        <entity name="Draft" representedClassName="App.Draft" parentEntity="Book"
            codeGenerationType="class"/>
        <entity name="Manual" representedClassName="Manual"/>
        """

    @Test func aClassDefinitionIsSpelledAsXcodeSpellsIt() throws {
        let text = try text(of: "Book+CoreDataClass.swift", in: shelf)
        #expect(
            text == """
                //
                //  Book+CoreDataClass.swift
                //
                //  This file was automatically generated and should not be edited.
                //

                import Foundation
                public import CoreData

                public class Book: NSManagedObject {

                }

                """)
    }

    @Test func propertiesAndAccessorsAreSpelledAsXcodeSpellsThem() throws {
        let text = try text(of: "Book+CoreDataProperties.swift", in: shelf)
        #expect(
            text.hasSuffix(
                """
                extension Book {

                    @nonobjc public class func fetchRequest() -> NSFetchRequest<Book> {
                        return NSFetchRequest<Book>(entityName: "Book")
                    }

                    @NSManaged public var id: UUID?
                    @NSManaged public var title: String?
                    @NSManaged public var tags: NSSet?

                }

                // MARK: Generated accessors for tags
                extension Book {

                    @NSManaged public func addToTags(_ value: Label)

                    @NSManaged public func removeFromTags(_ value: Label)

                    @NSManaged public func addToTags(_ values: NSSet)

                    @NSManaged public func removeFromTags(_ values: NSSet)

                }

                extension Book : Identifiable {

                }

                """))
    }

    @Test func orderedRelationshipsGetTheAccessorsByIndex() throws {
        let text = try text(of: "Label+CoreDataProperties.swift", in: shelf)
        #expect(text.contains("@NSManaged public var books: NSOrderedSet?"))
        #expect(text.contains("@NSManaged public var first: Book?"))
        for accessor in [
            "insertIntoBooks(_ value: Book, at idx: Int)", "removeFromBooks(at idx: Int)",
            "insertIntoBooks(_ values: [Book], at indexes: NSIndexSet)",
            "removeFromBooks(at indexes: NSIndexSet)",
            "replaceBooks(at idx: Int, with value: Book)",
            "replaceBooks(at indexes: NSIndexSet, with values: [Book])",
            "addToBooks(_ value: Book)", "removeFromBooks(_ values: NSOrderedSet)",
        ] {
            #expect(text.contains("    @NSManaged public func \(accessor)\n"), "\(accessor)")
        }
    }

    @Test func aParentEntityIsTheSuperclass() throws {
        let sources = try ClassGeneration(model: scratch.model(shelf)).sources()
        let byName = Dictionary(uniqueKeysWithValues: sources.map { ($0.fileName, $0.text) })
        #expect(byName["Draft+CoreDataClass.swift"]?.contains("class Draft: Book {") == true)
        // The parent is identifiable already, and says it once.
        #expect(byName["Draft+CoreDataProperties.swift"]?.contains("Identifiable") == false)
    }

    @Test func onlyWhatTheModelAsksForIsGenerated() throws {
        let sources = try ClassGeneration(model: scratch.model(shelf)).sources()
        #expect(
            sources.map(\.fileName) == [
                "Book+CoreDataClass.swift", "Book+CoreDataProperties.swift",
                "Label+CoreDataProperties.swift", "Draft+CoreDataClass.swift",
                "Draft+CoreDataProperties.swift",
            ])
    }

    @Test(arguments: [
        ("Integer 16", "Int16", "NSNumber?"), ("Integer 32", "Int32", "NSNumber?"),
        ("Integer 64", "Int64", "NSNumber?"), ("Double", "Double", "NSNumber?"),
        ("Float", "Float", "NSNumber?"), ("Boolean", "Bool", "NSNumber?"),
        ("Date", "TimeInterval", "Date?"), ("Decimal", "NSDecimalNumber?", "NSDecimalNumber?"),
        ("String", "String?", "String?"), ("Binary", "Data?", "Data?"), ("UUID", "UUID?", "UUID?"),
        ("URI", "URL?", "URL?"), ("Transformable", "NSObject?", "NSObject?"),
    ])
    func attributesHaveTheTypeXcodeGives(type: String, scalar: String, object: String) throws {
        let text = try text(
            of: "A+CoreDataProperties.swift",
            in: """
                <entity name="A" representedClassName="A" codeGenerationType="class">
                    <attribute name="one" attributeType="\(type)" usesScalarValueType="YES"/>
                    <attribute name="two" attributeType="\(type)" usesScalarValueType="NO"/>
                    <attribute name="three" attributeType="\(type)"/>
                </entity>
                """)
        #expect(text.contains("public var one: \(scalar)\n"))
        #expect(text.contains("public var two: \(object)\n"))
        #expect(text.contains("public var three: \(object)\n"))
    }

    @Test func aCustomClassAndAWordOfTheLanguageAreKept() throws {
        let text = try text(
            of: "A+CoreDataProperties.swift",
            in: """
                <entity name="A" representedClassName="A" codeGenerationType="class">
                    <attribute name="color" attributeType="Transformable" customClassName="Color"/>
                    <attribute name="default" attributeType="String"/>
                    <fetchedProperty name="others">
                        <fetchRequest name="f" entity="A" predicateString="TRUEPREDICATE"/>
                    </fetchedProperty>
                </entity>
                """)
        #expect(text.contains("public var color: Color?\n"))
        #expect(text.contains("public var `default`: String?\n"))
        #expect(text.contains("public var others: [A]?\n"))
    }

    @Test func anEntitysNameMayHaveLineBreaks() throws {
        let text = try text(
            of: "Book+CoreDataProperties.swift",
            in: """
                <entity name="Line&#10;break&#13;&#34;" representedClassName="Book"
                    codeGenerationType="class"/>
                """)
        #expect(text.contains(#"(entityName: "Line\nbreak\r\"")"#))
    }

    @Test func namesThatMakeNoSwiftAreRefused() throws {
        let unnamed = try failure("<entity name=\"A\" codeGenerationType=\"class\"/>")
        #expect(unnamed?.code == .missingClass)
        let shared = try failure(
            """
            <entity name="A" representedClassName="C" codeGenerationType="class"/>
            <entity name="B" representedClassName=".C" codeGenerationType="class"/>
            """)
        #expect(shared?.code == .sharedClass)
        #expect(shared?.message.contains("“A” both generate the class C") == true)
        let odd = try failure(
            "<entity name=\"A\" representedClassName=\"C\" codeGenerationType=\"both\"/>")
        #expect(odd?.code == .unknownKind)
        let bad = try failure(
            "<entity name=\"A\" representedClassName=\"A-B\" codeGenerationType=\"class\"/>")
        #expect(bad?.code == .badName)
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is absent"))
    func classesOfEveryRealModelAreGenerated() throws {
        var count = 0
        for url in Corpus.files("xcdatamodel", endingIn: ".xcdatamodel") {
            let model = try NSManagedObjectModel.load(from: url)
            count += try ClassGeneration(model: model).sources().count
        }
        #expect(count > 0)
    }
}
