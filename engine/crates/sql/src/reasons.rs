//! Reasons against caching a result, apart from the statement's text. Each part of the engine that caches results has its own list.

/// Defines the reasons for which a part of the engine does not cache a result, each by its variant, its name and its explanation: the enum
/// `Context` of these, and the enum `Reason`, which is one of `Context` or a [`Refusal`](crate::Refusal).
#[macro_export]
macro_rules! reasons {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// A reason in a session, a table or a response, not in a statement's text, why a result is not cached.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ContextReason { $($variant,)* }

        const CONTEXT_REASONS: &[(&str, &str)] = &[$(($name, $text),)*];

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            Context(ContextReason),
            Text($crate::Refusal),
        }

        impl From<ContextReason> for Reason {
            fn from(own: ContextReason) -> Self {
                Reason::Context(own)
            }
        }

        impl Reason {
            const COUNT: usize = CONTEXT_REASONS.len() + $crate::Refusal::ALL.len();

            /// The index of the reason, which is less than `COUNT`. It is not stable between versions.
            pub fn index(self) -> usize {
                match self {
                    Reason::Context(own) => own as usize,
                    Reason::Text(refusal) => CONTEXT_REASONS.len() + refusal as usize,
                }
            }

            /// Iterates over the name and the explanation of each reason, in the order of their indices.
            fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
                let of_texts = $crate::Refusal::ALL.iter().map(|refusal| (refusal.name(), refusal.explain()));
                CONTEXT_REASONS.iter().copied().chain(of_texts)
            }
        }
    };
}
