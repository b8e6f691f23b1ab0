internal import Platform
package import RecordWire

/// One sync round under way: the machine, the performer of what concerns the store, and the waits.
///
/// Whoever drives it carries requests and lets time pass, and does nothing else: `MirrorSession`
/// over a real channel, the simulation over a bad one.
package struct MirrorRound: Sendable {
    /// What its driver is to do next.
    package enum Step: Sendable {
        /// Something was done in the store; ask for the next step.
        case performed
        /// Carry the request, then `answer`.
        case send(RecordRequest)
        /// Let so much time pass, then `wake`.
        case wait(seconds: Double)
        case finished(RoundResult)
    }

    private let performer: InstructionPerformer
    private let retry: RetryPolicy
    private var machine: MirrorMachine
    /// What the machine wants next.
    package private(set) var instruction: MirrorMachine.Instruction

    /// The counts so far.
    package var result: RoundResult { machine.result }

    package init(
        _ performer: InstructionPerformer, limits: RoundLimits = RoundLimits(),
        retry: RetryPolicy = RetryPolicy()
    ) {
        self.performer = performer
        self.retry = retry
        machine = MirrorMachine(
            zoneName: performer.mirrored.settings.zoneName, limits: limits,
            dialect: performer.dialect)
        instruction = machine.handle(.start)
    }

    /// Performs the next instruction where it concerns the store, or says what is to be done
    /// outside. Throws what the store throws; the round is over then, and nothing is lost by it.
    package mutating func step() throws -> Step {
        switch instruction {
        case .finish(let result): return .finished(result)
        case .send(let request): return .send(request)
        case .wait(let attempt, let asked):
            let seconds = retry.seconds(
                afterAttempt: attempt, retryAfterSeconds: asked,
                randomness: performer.mirrored.settings.platform.randomness)
            guard let seconds else { return .finished(machine.givenUp) }
            return .wait(seconds: seconds)
        default:
            if let event = try performer.perform(instruction) {
                instruction = machine.handle(event)
            }
            return .performed
        }
    }

    /// What came of the request that `step` gave.
    package mutating func answer(_ answer: Result<RecordResponse, any Error>) {
        switch answer {
        case .success(let response): instruction = machine.handle(.replied(response))
        case .failure(let error): instruction = machine.handle(.failed(MirrorFailure(error)))
        }
    }

    /// The time that `step` asked for has passed.
    package mutating func wake() { instruction = machine.handle(.woke) }
}
