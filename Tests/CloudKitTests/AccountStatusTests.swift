import CoreData
import Foundation
import MirrorTransport
import Platform
import Testing

@testable import CloudKit

/// Who the signed-in user is, asked as apps ask before they show that they sync.
@Suite(.serialized) struct AccountStatusTests {
    private let container = CKContainer.default()

    @Test func theServiceSaysWhoTheUserIs() async throws {
        let service = try LocalService()
        let (address, name) = try service.user("ann")
        #expect(try await container.accountStatus(at: address) == .available)
        #expect(try await container.userRecordID(at: address).recordName == name)
        let told = Lock(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: nil, queue: nil
        ) { _ in told.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        var stranger = address
        stranger.credentials = Credentials(
            apiToken: address.credentials.apiToken, userToken: "none")
        #expect(try await container.accountStatus(at: stranger) == .noAccount)
        #expect(told.withLock { $0 } == 1)
        var away = address
        away.url = try #require(URL(string: "https://127.0.0.1:1"))
        #expect(try await container.accountStatus(at: away) == .couldNotDetermine)
        #expect(told.withLock { $0 } == 1)
    }

    @Test func withoutAServiceThereIsNoAccount() async throws {
        #expect(try await container.accountStatus() == .noAccount)
        let (status, failed) = await withCheckedContinuation { done in
            container.accountStatus { done.resume(returning: ($0, $1 != nil)) }
        }
        #expect(status == .noAccount && !failed)
        await #expect(throws: CKError.self) { try await container.userRecordID() }
    }

    @Test func databasesAndZonesAreNamed() {
        let container = CKContainer.default()
        #expect(
            container.containerIdentifier
                == NSPersistentCloudKitContainer.defaultContainerIdentifier)
        #expect(container.privateCloudDatabase.databaseScope == .private)
        #expect(container.sharedCloudDatabase.databaseScope == .shared)
        #expect(container.publicCloudDatabase.databaseScope == .public)
        #expect(container.database(with: .shared).databaseScope == .shared)
        #expect(CKRecordZone.default().zoneID == .default)
    }

    @Test func aNewSharesOwnerIsTheUser() {
        let share = CKShare(rootRecord: CKRecord(recordType: "Note"))
        #expect(share.owner.role == .owner)
        #expect(share.owner.userIdentity.userRecordID?.recordName == CKCurrentUserDefaultName)
        #expect(share.owner.userIdentity.nameComponents == nil)
    }
}
