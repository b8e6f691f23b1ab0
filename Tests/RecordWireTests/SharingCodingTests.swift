import Foundation
import RecordWire
import Testing

/// Shares, hierarchies and users on the wire.
@Suite struct SharingCodingTests {
    private func roundTrip(
        _ request: RecordRequest, _ path: String, _ method: String = "POST", text: String? = nil
    ) throws {
        let encoded = try WireCodec.encode(request)
        #expect(encoded.path == path)
        #expect(encoded.method == method)
        if let text { #expect(String(decoding: encoded.body, as: UTF8.self) == text) }
        #expect(
            try WireCodec.decodeRequest(path: path, method: method, body: encoded.body) == request)
    }

    private func roundTrip(_ response: RecordResponse, to request: RecordRequest) throws {
        let body = try WireCodec.encode(response, to: request)
        #expect(try WireCodec.decodeResponse(to: request, body) == response)
    }

    private var share: Record {
        var share = Record(
            recordName: "s", recordType: Record.shareType,
            fields: ["cloudkit.title": .string("Notes")])
        share.sharedRoot = "root"
        share.publicPermission = .readOnly
        share.participants = [
            ShareParticipant(
                identity: UserIdentity(
                    lookupInfo: UserLookupInfo(emailAddress: "ann@example.org")),
                permission: .readWrite)
        ]
        return share
    }

    @Test func aRequestForAShareIsSpelledAsCloudKitDoes() throws {
        var root = Record(recordName: "root", recordType: "Note")
        root.createsShortGUID = true
        var child = Record(recordName: "child", recordType: "Note")
        child.parent = "root"
        var orphan = Record(recordName: "orphan", recordType: "Note")
        orphan.parent = nil
        var given = share
        given.sharedRootTag = "1"
        let records = [root, child, orphan, given]
        try roundTrip(
            .modifyRecords(
                ModifyRecords(
                    operations: records.map { RecordOperation(.create, $0) }, zoneID: nil)),
            "records/modify",
            text: """
                {"operations":[{"operationType":"create","record":{"recordName":"root",\
                "recordType":"Note","fields":{},"createShortGUID":true}},\
                {"operationType":"create","record":{"recordName":"child","recordType":"Note",\
                "fields":{},"parent":{"recordName":"root"}}},\
                {"operationType":"create","record":{"recordName":"orphan","recordType":"Note",\
                "fields":{},"parent":null}},\
                {"operationType":"create","record":{"recordName":"s",\
                "recordType":"cloudkit.share",\
                "fields":{"cloudkit.title":{"value":"Notes","type":"STRING"}},\
                "forRecord":{"recordName":"root","recordChangeTag":"1"},\
                "publicPermission":"READ_ONLY","participants":[{"userIdentity":{"lookupInfo":\
                {"emailAddress":"ann@example.org"}},"type":"USER","acceptanceStatus":"INVITED",\
                "permission":"READ_WRITE"}]}}]}
                """)
    }

    @Test func sharesComeBackFromAnswers() throws {
        var told = share
        told.shortGUID = "0abc"
        told.recordChangeTag = "3"
        told.participants = [
            ShareParticipant(
                participantID: "p1",
                identity: UserIdentity(
                    userRecordName: "_anna",
                    nameComponents: NameParts(givenName: "Anna", familyName: "Lee")),
                permission: .readWrite, status: .accepted, kind: .owner)
        ]
        told.currentParticipantID = "p1"
        var root = Record(recordName: "root", recordType: "Note", recordChangeTag: "2")
        root.share = "s"
        root.shortGUID = "0abc"
        root.zoneID = ZoneID(zoneName: "z", ownerRecordName: "_anna")
        let lookup = RecordRequest.lookupRecords(LookupRecords(recordNames: [], zoneID: nil))
        let reply = RecordResponse.records(RecordsReply(results: [.record(told), .record(root)]))
        try roundTrip(reply, to: lookup)
        let text = String(decoding: try WireCodec.encode(reply, to: lookup), as: UTF8.self)
        #expect(text.contains(#""owner":{"participantId":"p1""#))
        #expect(text.contains(#""currentUserParticipant":{"participantId":"p1""#))
        #expect(!text.contains("___"))

        var found = ShareMetadata(
            shortGUID: "0abc", target: RecordTarget(container: "c"), isShared: true,
            zoneID: ZoneID(zoneName: "z", ownerRecordName: "_anna"), share: told,
            owner: UserIdentity(userRecordName: "_anna"),
            participant: ShareParticipant(
                participantID: "p1", identity: UserIdentity(), permission: .readOnly,
                status: .invited, kind: .publicUser))
        found.rootRecordName = "root"
        found.rootRecord = root
        let missing = RecordError(.notFound, "There is none.")
        let asked = ShareLookup([
            .init(shortGUID: "0abc", fetchesRoot: true, rootKeys: ["title"]),
            .init(shortGUID: "x"),
        ])
        try roundTrip(.shares([.share(found), .failure(missing)]), to: .resolveShares(asked))
        try roundTrip(.resolveShares(asked), "records/resolve")
        try roundTrip(.acceptShares(asked), "records/accept")
    }

    @Test func whatTheServiceSaysIsPassedOverInRequests() throws {
        let body = #"""
            {"operations":[{"operationType":"forceUpdate","record":{"recordName":"r",
            "owner":{"participantId":"1"},"currentUserParticipant":{"participantId":"1"},
            "share":{"recordName":"s","zoneID":{"zoneName":"z"}},"shortGUID":"0"}}]}
            """#
        let request = try WireCodec.decodeRequest(
            path: "records/modify", method: "POST", body: Data(body.utf8))
        guard case .modifyRecords(let modify) = request else { return }
        #expect(modify.operations[0].record.share == "s")
    }

    @Test func usersAreAskedForInAllForms() throws {
        let email = UserLookupInfo(emailAddress: "ann@example.org")
        let id = UserLookupInfo(userRecordName: "_ann")
        try roundTrip(
            .lookupUsers(UserLookup(.discover, [email, id])), "users/discover",
            text: #"{"lookupInfos":[{"emailAddress":"ann@example.org"},{"userRecordName":"_ann"}]}"#
        )
        try roundTrip(.lookupUsers(UserLookup(.addressBook)), "users/discover", "GET", text: "")
        try roundTrip(
            .lookupUsers(UserLookup(.email, [email])), "users/lookup/email",
            text: #"{"users":[{"emailAddress":"ann@example.org"}]}"#)
        try roundTrip(.lookupUsers(UserLookup(.id, [id])), "users/lookup/id")
        try roundTrip(.lookupUsers(UserLookup(.contacts)), "users/lookup/contacts")

        let ann = UserIdentity(
            userRecordName: "_ann", nameComponents: NameParts(givenName: "Ann", familyName: "Lee"),
            lookupInfo: email)
        for form in [UserLookup.Form.discover, .addressBook, .email, .id, .contacts] {
            try roundTrip(
                .users(UsersReply([ann], form: form)), to: .lookupUsers(UserLookup(form)))
        }
        for (request, words) in [
            (RecordRequest.caller, #""nameComponents":{"familyName":"Lee","givenName":"Ann"}"#),
            (.currentUser, #""firstName":"Ann","lastName":"Lee""#),
        ] {
            var reply = CallerReply(userRecordName: "_ann")
            reply.nameComponents = ann.nameComponents
            reply.lookupInfo = email
            reply.isFormer = request == .currentUser
            try roundTrip(.caller(reply), to: request)
            let text = try WireCodec.encode(.caller(reply), to: request)
            #expect(String(decoding: text, as: UTF8.self).contains(words))
        }
    }
}
