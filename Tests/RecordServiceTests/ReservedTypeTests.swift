import RecordService
import RecordWire
import Testing

/// Record types whose names are the protocol's own.
@Suite(.everyBackend) struct ReservedTypeTests {
    @Test(arguments: [
        "cloudkit.other", "cloudkit.", "CloudKit.other", "cloudkit.shares", "cloudkit.Share",
    ])
    func typesOfTheProtocolAreRefused(type: String) throws {
        let fixture = try ServiceFixture()
        for environment in ["development", "production"] {
            var place = fixture
            place.target.environment = environment
            try place.createZone(ServiceFixture.zone)
            for kind in [RecordOperation.Kind.create, .forceUpdate, .forceReplace] {
                let record = Record(recordName: "a", recordType: type)
                let error = try place.modify([RecordOperation(kind, record)])[0].error
                #expect(error?.code == .badRequest)
                #expect(error?.reason.contains("cloudkit.share") == true)
            }
            #expect(try place.changes(since: nil).records.isEmpty)
        }
    }

    @Test(arguments: ["cloudkit", "cloudkits.other", "my.cloudkit.type"])
    func namesBesideThemAreTaken(type: String) throws {
        let fixture = try ServiceFixture()
        #expect(try fixture.save(Record(recordName: "a", recordType: type)).recordType == type)
    }
}
