import Foundation
import Predicates
import Testing

@testable import ObjectModel

/// Models that go through an archive and come back.
@Suite struct ArchivingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func archived(_ model: NSManagedObjectModel) throws -> NSManagedObjectModel {
        try .load(fromArchive: model.compiledData())
    }

    /// A model in which every fact that a source can state is stated.
    private static let everything = """
        <entity name="Document" representedClassName=".Document" isAbstract="YES"
            versionHashModifier="v3" elementID="Paper" syncable="NO"
            coreSpotlightDisplayNameExpression="title">
            <attribute name="title" attributeType="String" minValueString="1"
                maxValueString="80" regularExpressionString="[a-z&quot;]+"
                defaultValueString="ä"
                elementID="name" indexed="YES" spotlightIndexingEnabled="YES">
                <userInfo><entry key="k" value="v"/></userInfo>
            </attribute>
            <attribute name="short" attributeType="Integer 16" defaultValueString="-3"
                minValueString="-10" maxValueString="10"/>
            <attribute name="word" attributeType="Integer 32" defaultValueString="70000"/>
            <attribute name="long" attributeType="Integer 64"
                defaultValueString="9223372036854775807"/>
            <attribute name="price" attributeType="Decimal" defaultValueString="-12.345"
                minValueString="0.5"/>
            <attribute name="whole" attributeType="Decimal" defaultValueString="1000000"/>
            <attribute name="ratio" attributeType="Double" defaultValueString="0.1"/>
            <attribute name="part" attributeType="Float" defaultValueString="0.1"/>
            <attribute name="isRead" attributeType="Boolean" defaultValueString="YES"/>
            <attribute name="made" attributeType="Date" defaultDateTimeInterval="12.5"
                minDateTimeInterval="0"/>
            <attribute name="key" optional="YES" attributeType="UUID"
                preserveAfterDeletion="YES"
                defaultValueString="7E2B1D9C-8F5A-4C0A-9A53-0D6D3F3B7C11"/>
            <attribute name="link" optional="YES" attributeType="URI"
                defaultValueString="https://a.b/c?d=e"/>
            <attribute name="cover" optional="YES" attributeType="Binary"
                allowsExternalBinaryDataStorage="YES" allowsCloudEncryption="YES"
                versionHashModifier="2" storedInTruthFile="YES" syncable="NO"/>
            <attribute name="tags" optional="YES" attributeType="Transformable"
                valueTransformerName="NSSecureUnarchiveFromData" customClassName="[String]"/>
            <attribute name="cache" optional="YES" transient="YES" attributeType="Undefined"/>
            <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES"
                derivationExpression="pages.@count"/>
            <attribute name="words" optional="YES" attributeType="Integer 64" derived="YES"
                derivationExpression="pages.words.@sum"/>
            <attribute name="plain" optional="YES" attributeType="String" derived="YES"
                derivationExpression="canonical:(title)"/>
            <attribute name="now" optional="YES" attributeType="Date" derived="YES"
                derivationExpression="now()"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            <relationship name="pages" optional="YES" toMany="YES" minCount="1" maxCount="9"
                ordered="YES" deletionRule="Cascade" destinationEntity="Page"
                inverseName="document" inverseEntity="Page"/>
            <relationship name="related" optional="YES" toMany="YES" maxCount="-1"
                deletionRule="Deny" destinationEntity="Document" inverseName="related"
                inverseEntity="Document"/>
            <fetchedProperty name="recent" optional="YES">
                <fetchRequest name="recent" entity="Page" predicateString="words &gt; 1"/>
            </fetchedProperty>
            <fetchIndex name="byTitle" partialIndexPredicate="short &gt; 2">
                <fetchIndexElement property="title" type="Binary" order="descending"/>
                <fetchIndexElement expression="length:(title)" expressionType="Integer 64"
                    type="RTree" order="ascending"/>
            </fetchIndex>
            <compoundIndexes>
                <compoundIndex><index value="title"/><index value="short"/></compoundIndex>
            </compoundIndexes>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="title"/><constraint value="key"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
            <userInfo><entry key="a" value=""/></userInfo>
        </entity>
        <entity name="Report" parentEntity="Document">
            <attribute name="note" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Page">
            <attribute name="words" optional="YES" attributeType="Integer 32"/>
            <relationship name="document" maxCount="1" deletionRule="No Action"
                destinationEntity="Document" inverseName="pages" inverseEntity="Document"/>
        </entity>
        <composite name="Place">
            <attribute name="longitude" optional="YES" attributeType="Double"/>
            <attribute name="latitude" optional="YES" attributeType="Double"/>
        </composite>
        <configuration name="Pages"><memberEntity name="Page"/></configuration>
        <fetchRequest name="ten" entity="Page" predicateString="words == $W" fetchLimit="10"
            fetchBatchSize="5" resultType="2" includeSubentities="NO"
            includePropertyValues="NO" includePendingChanges="NO" returnObjectsAsFaults="NO"
            returnDistinctResults="YES"/>
        """

    /// Equal texts share one object of an archive; those that only Swift takes for equal do not.
    @Test func textsOfOtherBytesAreKeptApart() throws {
        let model = try scratch.model(
            """
            <entity name="A">
            <attribute name="one" attributeType="String" defaultValueString="\u{E9}"/>
            <attribute name="two" attributeType="String" defaultValueString="e\u{301}"/>
            </entity>
            """)
        let again = try archived(model).entitiesByName["A"]?.attributesByName
        let texts = ["one", "two"].map { again?[$0]?.defaultValue as? String ?? "" }
        #expect(texts.map { Array($0.utf8) } == [[0xC3, 0xA9], [0x65, 0xCC, 0x81]])
    }

    @Test func aModelWithEveryFactReadsBackEqual() throws {
        let model = try scratch.model(Self.everything)
        model.fetchRequestTemplates["ten"]?.sortKeys = [.init(key: "words", isAscending: false)]
        let note = try #require(model.entitiesByName["Report"]?.attributesByName["note"])
        note.validation.rules = [
            .init(predicate: "SELF CONTAINS \"x\"", warning: "needs an x"),
            .init(predicate: "SELF != nil", warning: nil),
        ]
        let again = try archived(model)
        #expect(ModelFacts.differences(again, model) == [])
        #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(again.entitiesByName["Document"]?.isSyncable == false)
        #expect(
            again.entitiesByName["Document"]?.attributesByName["cover"]?.marks == [
                .storedInExternalRecord
            ])
        try again.checkConsistency()
        #expect(try again.compiledData() == archived(again).compiledData())
    }

    @Test func aCompiledFileOpensByItsContents() throws {
        let url = scratch.folder.appendingPathComponent("Library")
        try BuildingTests.library().compiledData().write(to: url)
        let model = try NSManagedObjectModel.load(from: url)
        #expect(
            model.entityVersionHashesByName == BuildingTests.library().entityVersionHashesByName)
    }

    @Test func plistsOfFoundationAgreeOnTheBytes() throws {
        let data = try BuildingTests.library().compiledData()
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        let fields = try #require(list as? [String: Any])
        #expect(fields["$archiver"] as? String == "NSKeyedArchiver")
        #expect(fields["$version"] as? Int == 100_000)
        let objects = try #require(fields["$objects"] as? [Any])
        #expect(objects.first as? String == "$null")
        #expect(objects.contains { $0 as? String == "Novel" })
    }

    @Test func whatAnArchiveCannotHoldIsRefused() throws {
        func refusal(_ change: (NSManagedObjectModel) -> Void) -> ModelFileError.Code? {
            let model = BuildingTests.library()
            change(model)
            return #expect(throws: ModelFileError.self) { try model.compiledData() }?.code
        }
        #expect(refusal { $0.entities[0].name = nil } == .missingName)
        #expect(refusal { $0.entities[0].userInfo = ["a": NSObject()] } == .badValue)
        let transformable = refusal { model in
            let title = model.entities[1].attributesByName["title"]
            title?.attributeType = .transformableAttributeType
            title?.defaultValue = NSObject()
        }
        #expect(transformable == .badValue)
        let stranger = refusal { $0.entities[0].properties.append(NSPropertyDescription()) }
        #expect(stranger == .unsupportedFormat)
    }

    /// As numbers of any kind, which go through no double.
    @Test func wholeDefaultsOfDecimalsAreKept() throws {
        let model = BuildingTests.library()
        let title = model.entitiesByName["Book"]?.attributesByName["title"]
        title?.attributeType = .decimalAttributeType
        func kept(_ value: Any) throws -> Decimal? {
            title?.defaultValue = value
            return try archived(model).entitiesByName["Book"]?.attributesByName["title"]?
                .defaultValue as? Decimal
        }
        #expect(try kept(9_007_199_254_740_993) == Decimal(string: "9007199254740993"))
        #expect(try kept(UInt64.max) == Decimal(UInt64.max))
        #expect(try kept(2.5) == Decimal(string: "2.5"))
        #expect(try kept(Decimal(string: "-0.1") as Any) == Decimal(string: "-0.1"))
        title?.attributeType = .integer64AttributeType
        title?.defaultValue = 1e300
        let error = #expect(throws: ModelFileError.self) { try model.compiledData() }
        #expect(error?.code == .badValue)
    }

    @Test func userInfoOfAnyPropertyListIsKept() throws {
        let model = BuildingTests.library()
        let date = Date(timeIntervalSinceReferenceDate: 5)
        model.entities[0].userInfo = [
            "text": "t", "number": 3, "real": 0.5, "flag": true, "date": date,
            "data": Data([1, 2]), "list": ["a", 1] as [Any], "inner": ["k": "v"],
        ]
        let info = try #require(try archived(model).entitiesByName["Author"]?.userInfo)
        #expect(info["text"] as? String == "t")
        #expect(info["number"] as? Int == 3)
        #expect(info["real"] as? Double == 0.5)
        #expect(info["flag"] as? Bool == true)
        #expect(info["date"] as? Date == date)
        #expect(info["data"] as? Data == Data([1, 2]))
        #expect((info["list"] as? [Any])?.count == 2)
        #expect((info["inner"] as? [AnyHashable: Any])?["k"] as? String == "v")
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
    func everyModelSourceRoundTripsThroughAnArchive() throws {
        for file in Corpus.files("xcdatamodel", endingIn: ".xcdatamodel/contents") {
            let model = try NSManagedObjectModel.load(from: file)
            let again = try archived(model)
            #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
            #expect(ModelFacts.differences(again, model) == [], "\(file.path)")
        }
    }

    @Test(.enabled(if: Corpus.isPresent, "the corpus is not at hand"))
    func everyCompiledModelRoundTrips() throws {
        for file in Corpus.files("compiled", endingIn: ".mom") {
            let model = try NSManagedObjectModel.load(from: file)
            #expect(try ModelFacts.differences(archived(model), model) == [])
            let source = try NSManagedObjectModel.load(
                from: scratch.write(model.sourceText(), to: "Again.xcdatamodel/contents"))
            #expect(source.entityVersionHashesByName == model.entityVersionHashesByName)
        }
    }
}
