import Foundation
import Testing

@testable import ObjectModel

@Suite struct EntityReadingTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func entitiesKeepTheirFacts() throws {
        let model = try scratch.model(
            """
            <entity name="Album" representedClassName="AlbumMO" isAbstract="YES" syncable="NO"
                codeGenerationType="class" elementID="Record" versionHashModifier="x"
                coreSpotlightDisplayNameExpression="title">
                <attribute name="title" attributeType="String">
                    <userInfo><entry key="k" value="v"/><entry key="empty" value=""/></userInfo>
                </attribute>
                <userInfo><entry key="team" value="music"/></userInfo>
                <compoundIndexes>
                    <compoundIndex><index value="title"/><index value="songs"/></compoundIndex>
                </compoundIndexes>
            </entity>
            <entity name="Plain" representedClassName=""/>
            """)
        let album = try #require(model.entitiesByName["Album"])
        #expect(album.managedObjectClassName == "AlbumMO")
        #expect(album.isAbstract)
        #expect(!album.isSyncable)
        #expect(album.marks.codeGeneration == "class")
        #expect(album.renamingIdentifier == "Record")
        #expect(album.versionHashModifier == "x")
        #expect(album.coreSpotlightDisplayNameExpressionText == "title")
        #expect(album.userInfo as? [String: String] == ["team": "music"])
        #expect(album.marks.compoundIndexes == [["title", "songs"]])
        let userInfo = album.attributesByName["title"]?.userInfo as? [String: String]
        #expect(userInfo == ["k": "v", "empty": ""])
        #expect(model.entitiesByName["Plain"]?.managedObjectClassName == "NSManagedObject")
        #expect(album.managedObjectModel === model)
    }

    @Test func relationshipsAreLinkedBothWays() throws {
        let model = try scratch.model(
            """
            <entity name="Album">
                <relationship name="songs" optional="YES" toMany="YES" minCount="1" maxCount="20"
                    ordered="YES" deletionRule="Cascade" destinationEntity="Song"
                    inverseName="album" inverseEntity="Song"/>
            </entity>
            <entity name="Song">
                <relationship name="album" maxCount="1" deletionRule="Deny"
                    destinationEntity="Album" inverseName="songs" inverseEntity="Album"/>
                <relationship name="cover" optional="YES" deletionRule="No Action"
                    destinationEntity="Song"/>
            </entity>
            """)
        let songs = try #require(model.entitiesByName["Album"]?.relationshipsByName["songs"])
        let song = try #require(model.entitiesByName["Song"])
        let album = try #require(song.relationshipsByName["album"])
        #expect(songs.destinationEntity === song)
        #expect(songs.inverseRelationship === album)
        #expect(album.inverseRelationship === songs)
        #expect((songs.minCount, songs.maxCount) == (1, 20))
        #expect(songs.isOrdered && songs.isToMany && !album.isToMany)
        #expect(songs.deleteRule == .cascadeDeleteRule)
        #expect(album.deleteRule == .denyDeleteRule)
        let cover = try #require(song.relationshipsByName["cover"])
        #expect(cover.inverseRelationship == nil)
        #expect(cover.maxCount == 1)
        #expect(cover.deleteRule == .noActionDeleteRule)
        #expect(song.relationships(forDestination: song).map(\.name) == ["cover"])
    }

    @Test func subentitiesInheritProperties() throws {
        let model = try scratch.model(
            """
            <entity name="Sport" parentEntity="Car">
                <attribute name="speed" attributeType="Double"/>
            </entity>
            <entity name="Car">
                <attribute name="name" attributeType="String"/>
                <relationship name="owner" optional="YES" maxCount="1" deletionRule="Nullify"
                    destinationEntity="Person" inverseName="cars" inverseEntity="Car"/>
            </entity>
            <entity name="Person">
                <relationship name="cars" toMany="YES" deletionRule="Nullify"
                    destinationEntity="Sport" inverseName="owner" inverseEntity="Sport"/>
            </entity>
            """)
        let car = try #require(model.entitiesByName["Car"])
        let sport = try #require(model.entitiesByName["Sport"])
        #expect(sport.superentity === car)
        #expect(car.subentitiesByName["Sport"] === sport)
        #expect(sport.rootEntity === car)
        #expect(sport.isKindOf(entity: car) && !car.isKindOf(entity: sport))
        #expect(sport.properties.map(\.name) == ["name", "owner", "speed"])
        #expect(sport.declaredProperties.map(\.name) == ["speed"])
        let cars = try #require(model.entitiesByName["Person"]?.relationshipsByName["cars"])
        #expect(cars.inverseRelationship === car.relationshipsByName["owner"])
    }

    @Test func indexesAndConstraintsAreRead() throws {
        let model = try scratch.model(
            """
            <entity name="Place">
                <attribute name="latitude" attributeType="Double"/>
                <attribute name="name" attributeType="String"/>
                <fetchIndex name="byPlace" partialIndexPredicate="name != nil">
                    <fetchIndexElement property="latitude" type="RTree" order="ascending"/>
                </fetchIndex>
                <fetchIndex name="byName">
                    <fetchIndexElement property="name" type="Binary" order="descending"/>
                    <fetchIndexElement expression="length:(name)" expressionType="Integer 64"
                        type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="name"/><constraint value="latitude"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            """)
        let place = try #require(model.entitiesByName["Place"])
        #expect(place.indexes.map(\.name) == ["byPlace", "byName"])
        let spatial = place.indexes[0]
        #expect(spatial.entity === place)
        #expect(spatial.partialIndexPredicateText == "name != nil")
        #expect(spatial.elements[0].collationType == .rTree)
        #expect(spatial.elements[0].property === place.propertiesByName["latitude"])
        #expect(spatial.elements[0].indexDescription === spatial)
        let byName = place.indexes[1]
        #expect(!byName.elements[0].isAscending)
        #expect(byName.elements[1].expressionText == "length:(name)")
        #expect(byName.elements[1].expressionResultType == .integer64AttributeType)
        #expect(byName.elements[1].property == nil)
        #expect(place.uniquenessConstraintNames == [["name", "latitude"]])
    }

    @Test func theModelKeepsRequestsConfigurationsAndItsHead() throws {
        let url = try scratch.write(
            """
            <model userDefinedModelVersionIdentifier="2.1" usedWithCloudKit="YES"
                sourceLanguage="Swift">
            <entity name="A">
                <fetchedProperty name="recent" optional="YES">
                    <fetchRequest name="recentRequest" entity="A" predicateString="date &gt; 0"/>
                </fetchedProperty>
            </entity>
            <entity name="B"/>
            <configuration name="Local"><memberEntity name="B"/></configuration>
            <fetchRequest name="firstTen" entity="A" predicateString="name = $NAME" fetchLimit="10"
                fetchBatchSize="5" includeSubentities="NO" returnDistinctResults="YES"
                resultType="2"/>
            </model>
            """, to: "M.xcdatamodel/contents")
        let model = try NSManagedObjectModel.load(from: url.deletingLastPathComponent())
        #expect(model.versionIdentifiers == ["2.1"])
        #expect(model.isUsedWithCloudKit)
        #expect(model.documentFacts["sourceLanguage"] == "Swift")
        #expect(model.configurations == ["Local"])
        #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["B"])
        #expect(model.entities(forConfigurationName: nil)?.count == 2)
        #expect(model.entities(forConfigurationName: "None") == nil)
        let request = try #require(model.fetchRequestTemplates["firstTen"])
        #expect(request.predicateText == "name = $NAME")
        #expect((request.fetchLimit, request.fetchBatchSize, request.resultType) == (10, 5, 2))
        #expect(!request.includesSubentities && request.returnsDistinctResults)
        let fetched = model.entitiesByName["A"]?.propertiesByName["recent"]
        let template = (fetched as? NSFetchedPropertyDescription)?.template
        #expect(template?.predicateText == "date > 0")
        #expect(template?.entityName == "A")
    }

    private func requestFlags(
        of template: FetchRequestTemplate?
    ) -> [Bool?] {
        [
            template?.includesSubentities, template?.includesPropertyValues,
            template?.includesPendingChanges, template?.returnsObjectsAsFaults,
            template?.returnsDistinctResults,
        ]
    }

    /// Xcode says `includesPendingChanges` beside `includeSubentities`; files of other programs say
    /// each of them either way.
    @Test(arguments: [
        [
            "includeSubentities", "includePropertyValues", "includesPendingChanges",
            "returnObjectsAsFaults", "returnDistinctResults",
        ],
        [
            "includesSubentities", "includesPropertyValues", "includePendingChanges",
            "returnsObjectsAsFaults", "returnsDistinctResults",
        ],
    ]) func flagsOfRequestsAreReadInBothSpellings(_ keys: [String]) throws {
        for (place, key) in keys.enumerated() {
            let usual = [true, true, true, true, false]
            let value = usual[place] ? "NO" : "YES"
            let model = try scratch.model(
                """
                <entity name="A"/><fetchRequest name="all" entity="A" \(key)="\(value)"/>
                """)
            var expected = usual
            expected[place].toggle()
            let found = requestFlags(of: model.fetchRequestTemplates["all"])
            #expect(found == expected.map(Optional.some), "\(key)")
        }
    }
}
