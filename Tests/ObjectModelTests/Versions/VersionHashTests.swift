import Foundation
import Testing

@testable import ObjectModel

/// Fixtures of our own whose hashes were computed by another program from the rule.
@Suite struct VersionHashTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func hash(_ model: NSManagedObjectModel, _ entity: String) -> String? {
        model.entityVersionHashesByName[entity].map { SHA2Tests.hex(Array($0)) }
    }

    @Test func aRequiredTextHashesAsItsPublishedVector() throws {
        let model = try scratch.model(
            """
            <entity name="WABlackListItem">
                <attribute name="jid" attributeType="String"/>
            </entity>
            <entity name="User">
                <attribute name="name" attributeType="String"/>
                <attribute name="petName" optional="YES" attributeType="String"/>
            </entity>
            """)
        #expect(
            hash(model, "WABlackListItem")
                == "b54037a7ef644ae5878923e769ac33f762451b565b5f5958a974392d928a26b2")
        #expect(
            hash(model, "User")
                == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
    }

    static let library = """
        <entity name="Document" isAbstract="YES" versionHashModifier="v3">
            <attribute name="title" attributeType="String"/>
            <attribute name="Zeta" optional="YES" attributeType="Integer 32"
                defaultValueString="4"/>
            <attribute name="size" optional="YES" attributeType="Integer 64"
                versionHashModifier="2"/>
            <attribute name="pageCount" optional="YES" attributeType="Integer 64" derived="YES"
                derivationExpression="pages.@count"/>
            <attribute name="cover" optional="YES" attributeType="Binary"
                allowsExternalBinaryDataStorage="YES"/>
            <attribute name="key" optional="YES" attributeType="UUID" preserveAfterDeletion="YES"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            <attribute name="cache" optional="YES" transient="YES" attributeType="String"/>
            <relationship name="pages" optional="YES" toMany="YES" minCount="1" ordered="YES"
                deletionRule="Cascade" destinationEntity="Page" inverseName="document"
                inverseEntity="Page"/>
            <relationship name="related" optional="YES" toMany="YES" deletionRule="Nullify"
                destinationEntity="Document" inverseName="related" inverseEntity="Document"/>
            <fetchedProperty name="recent" optional="YES">
                <fetchRequest name="recent" entity="Page" predicateString="TRUEPREDICATE"/>
            </fetchedProperty>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="title"/><constraint value="key"/>
                </uniquenessConstraint>
                <uniquenessConstraint><constraint value="size"/></uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
        <entity name="Report" parentEntity="Document">
            <attribute name="note" optional="YES" attributeType="URI"/>
        </entity>
        <entity name="Page">
            <relationship name="document" maxCount="1" deletionRule="Nullify"
                destinationEntity="Document" inverseName="pages" inverseEntity="Document"/>
        </entity>
        <composite name="Place">
            <attribute name="longitude" optional="YES" attributeType="Double"/>
            <attribute name="latitude" optional="YES" attributeType="Double"/>
        </composite>
        """

    @Test func everyHashedFactEntersTheHash() throws {
        let model = try scratch.model(Self.library)
        #expect(
            hash(model, "Document")
                == "9d18286e484f0ccb17c2860653bf961704fc4721cab1d5f9864adf8127b23d6c")
        #expect(
            hash(model, "Report")
                == "a752a8d2baf7921ba23f6dd8af4781b387ed194bcd976fdd91b9479a6caabefb")
        #expect(
            hash(model, "Page")
                == "6fe8b5ea409b25358c376435610c74a54e469217382d5ac986e77d18ba25b0f2")
        for entity in model.entities {
            #expect(entity.versionHash == model.entityVersionHashesByName[entity.name ?? ""])
        }
    }

    @Test func factsThatAreNotHashedChangeNothing() throws {
        let model = try scratch.model(Self.library)
        let before = model.entityVersionHashesByName
        let document = try #require(model.entitiesByName["Document"])
        document.managedObjectClassName = "Other"
        document.renamingIdentifier = "Old"
        document.userInfo = ["key": "value"]
        let size = try #require(document.attributesByName["size"])
        size.defaultValue = Int64(7)
        size.isIndexed = true
        document.relationshipsByName["pages"]?.deleteRule = .denyDeleteRule
        #expect(model.entityVersionHashesByName == before)
        size.isOptional = false
        #expect(model.entityVersionHashesByName["Document"] != before["Document"])
        #expect(model.entityVersionHashesByName["Report"] != before["Report"])
        #expect(model.entityVersionHashesByName["Page"] == before["Page"])
    }

    @Test(arguments: [
        ("pages.@count", "count:(pages)"), ("pages.@sum.price", "sum:(pages.price)"),
        ("chat.serverId", "chat.serverId"), (" now() ", "now()"),
        ("canonical:(name)", "canonical:(name)"),
    ])
    func derivationsAreHashedWithTheirFunctionInFront(spelled: String, hashed: String) {
        let derived = NSDerivedAttributeDescription()
        derived.derivationExpressionText = spelled
        #expect(VersionHashing.hashedText(of: derived) == hashed)
    }

    @Test func aStoreFitsTheConfigurationItWasMadeFor() throws {
        let model = try scratch.model(
            Self.library
                + "<configuration name=\"Pages\"><memberEntity name=\"Page\"/></configuration>")
        let all: [String: Any] = ["NSStoreModelVersionHashes": model.entityVersionHashesByName]
        let page = model.entityVersionHashesByName.filter { $0.key == "Page" }
        let pages: [String: Any] = ["NSStoreModelVersionHashes": page]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: all))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: pages))
        #expect(model.isConfiguration(withName: "Pages", compatibleWithStoreMetadata: pages))
        #expect(!model.isConfiguration(withName: "Pages", compatibleWithStoreMetadata: all))
        #expect(!model.isConfiguration(withName: "None", compatibleWithStoreMetadata: all))
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    }

    @Test func threeHundredEntitiesHashQuickly() {
        let model = NSManagedObjectModel()
        model.entities = (0..<300).map { number in
            let entity = NSEntityDescription()
            entity.name = "Entity\(number)"
            entity.properties = (0..<20).map { index in
                let attribute = NSAttributeDescription()
                attribute.name = "attribute\(index)"
                attribute.attributeType = .stringAttributeType
                return attribute
            }
            return entity
        }
        let time = processorSeconds { #expect(model.entityVersionHashesByName.count == 300) }
        // Debug builds are some twenty times slower than the figure in the module's README.
        #expect(time < 5)
        print("300 entities of 20 attributes hashed in \(time) s of the processor")
    }
}
