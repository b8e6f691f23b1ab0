import CloudKit
import CoreData
import Foundation
import Testing

/// Values of records, set and read as apps do.
@Suite struct RecordValueTests {
    @Test func aNumberIsReadAsAnyTypeThatHasIt() {
        let record = CKRecord(recordType: "Note")
        record["n"] = 5
        #expect(record["n"] as? Int == 5)
        #expect(record["n"] as? Int64 == 5)
        #expect(record["n"] as? Int32 == 5)
        #expect(record["n"] as? NSNumber == 5)
        #expect(record["n"] as? Double == 5)
        #expect(record["n"] as? String == nil)
        record["n"] = Int64(7)
        #expect(record["n"] as? Int == 7)
        #expect(record.object(forKey: "n") as? Int == 7)
        record["flag"] = true
        #expect(record["flag"] as? Bool == true)
        #expect(record["flag"] as? Int == 1)
        record.setObject(NSNumber(value: 0.5), forKey: "half")
        #expect(record["half"] as? Double == 0.5)
        record["list"] = [1, 2]
        #expect(record["list"] as? [Int] == [1, 2])
        #expect(record["list"] as? [Int64] == [1, 2])
        #expect(record.changedKeys() == ["flag", "half", "list", "n"])
    }

    @Test func aValueIsReadAsTheTypeThatIsAskedFor() {
        let record = CKRecord(recordType: "Note")
        record["text"] = "one"
        record["count"] = 3
        let text: String? = record["text"]
        let count: Int? = record["count"]
        let wide: Int64? = record["count"]
        let wrong: Date? = record["text"]
        #expect(text == "one" && count == 3 && wide == 3 && wrong == nil)
        record["text"] = nil
        let gone: String? = record["text"]
        #expect(gone == nil && record.allKeys() == ["count"])
        record.setValue("two", forKey: "text")
        #expect(record.value(forKey: "text") as? String == "two")
        record["text"] = "three" as any CKRecordValue
        #expect(record["text"] as? String == "three")
    }

    @Test func aRecordWithoutANameGetsOneOfItsOwn() {
        let (one, other) = (CKRecord(recordType: "Note"), CKRecord(recordType: "Note"))
        #expect(one.recordID != other.recordID)
        #expect(one.recordID.zoneID == .default)
        #expect(one.parent == nil && one.share == nil)
    }

    @Test func numbersOfExchangedRecordsAreReadAsAnyType() async throws {
        let service = try LocalService()
        let desk = try service.container("desk") { $0.assetValueBytesMax = 500 }
        let id = try desk.write("one", stars: 3)
        let large = try desk.write(String(repeating: "large ", count: 100))
        #expect(try await desk.container.sync())
        let record = try #require(desk.container.record(for: id))
        #expect(record["CD_stars"] as? Int == 3)
        #expect(record["CD_stars"] as? Int64 == 3)
        let stars: Int16? = record["CD_stars"]
        #expect(stars == 3)
        let asset = desk.container.record(for: large)?["CD_text_ckAsset"] as? CKAsset
        #expect(asset != nil && asset?.fileURL == nil)
    }
}
