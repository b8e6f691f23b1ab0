/// Which law a sentence says to be broken, told by the words that all its sentences have: so that
/// two failures can be known to be of one kind.
enum LawName: String, CaseIterable {
    // MARK: Agreement
    case devicesAgree = " differ: "
    case serviceAgrees = "The service differs from"
    case serviceShowsWhatIsHeld = "The service shows "
    case linksEnd = "has links to nothing"
    case linksAreAnswered = "One-to-one links are not answered"
    case placesAreByName = "were put at one place of "

    // MARK: Rest
    case devicesRest = "does not come to rest"
    case exchangeEnds = "go on exchanging records"
    case decisionsEnd = "Conflicts go on waiting"
    case quietRoundsAreShort = "requests in a quiet round"
    case roundsAreShort = "requests in a round with"
    case roundsKnow = "says it is in sync and lacks"
    case choicesEnd = "goes on leaving out"
    case queuesEmpty = "export queue is not empty"
    case nothingIsRefused = "was refused records"
    case filesAreWhole = "file is damaged"

    // MARK: What was saved
    case objectsStay = "was saved and is lost"
    case deletionsStay = "was deleted and came back"
    case deletionsMeetEdits = "nobody else"
    case undoneDeletionsHold = "was undone, and it is lost"
    case pairsAreSaved = "Nobody added the pair"
    case pairsStay = "was added and is lost"
    case removedPairsStay = "was removed and came back"
    case countersAddUp = "Counter "
    case lastOfChainStays = "each knowing the one before"
    case conflictsAreReal = "whose writers knew of each other"
    case lossesAreLogged = "is not there, and is in no log"
    case keysKeepSmallestName = "has the smallest name, and there "
    case latestStays = "latest."

    // MARK: Shares, seals and lost time
    case membersLeave = "takes part no more and holds"
    case linksAreShared = "are linked, and one is not shared"
    case pairsAreShared = "is shared by halves"
    case sealedValuesAreSomewhere = "and is nowhere"
    case heldObjectsStay = "was held by a device when faults ended"
    case heldValuesStay = "all devices when faults ended"
    case lostObjectsStay = "which no device held when faults ended"

    /// What was thrown instead of an outcome.
    case worldsEnd = "The world threw"

    /// The law of a sentence; nil for one that says none of these things.
    init?(of sentence: String) {
        guard let law = Self.allCases.first(where: { sentence.contains($0.rawValue) }) else {
            return nil
        }
        self = law
    }
}
